/** SSH key pairs as OpenSSH reads them: an ECDSA key on P-521, as the data plane's migration asks for. */
import { generateKeyPairSync } from 'node:crypto'

export interface SshKeyPair {
  readonly privateKey: string
  /** One line of authorized_keys. */
  readonly publicKey: string
}

const CURVE = 'nistp521'
const TYPE = `ecdsa-sha2-${CURVE}`
/** Bytes of one coordinate of a point on P-521. */
const COORDINATE = 66

export function sshKeyPair(comment: string): SshKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from([4]), coordinate(x), coordinate(y)])
  const blob = Buffer.concat([field(Buffer.from(TYPE)), field(Buffer.from(CURVE)), field(point)])
  return {
    privateKey: privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    publicKey: `${TYPE} ${blob.toString('base64')} ${comment}\n`,
  }
}

function coordinate(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  return Buffer.concat([Buffer.alloc(COORDINATE - bytes.length), bytes])
}

/** SSH's string: four bytes of length, then the bytes. */
function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
