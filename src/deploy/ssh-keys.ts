/** Generates SSH key pairs, and derives the public half of a private key. Must not know Secrets. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

export interface SshKeyPair {
  readonly privateKey: string
  /** A line of authorized_keys. */
  readonly publicKey: string
}

/** Generates an ECDSA key on P-521 as OpenSSH reads it: live migration of the data plane requires this curve. */
export function generateSshKeyPair(comment: string): SshKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  return {
    privateKey: privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    publicKey: formatPublicKey(encodePublicKey(publicKey), comment),
  }
}

/** Undefined when the key cannot be read: encrypted, damaged, or of a type that ssh does not have. */
export function derivePublicKey(privateKey: string, comment: string): string | undefined {
  try {
    const blob = decodeOpenSsh(privateKey) ?? encodePublicKey(createPublicKey(privateKey))
    return formatPublicKey(blob, comment)
  } catch {
    return undefined
  }
}

function formatPublicKey(blob: Buffer, comment: string): string {
  const type = blob.subarray(4, 4 + blob.readUInt32BE(0)).toString()
  if (!/^[a-z0-9@.-]+$/.test(type)) throw new Error('not a public key')
  return `${type} ${blob.toString('base64')} ${comment}\n`
}

/** A key in OpenSSH's own format has its public half in front, in clear text. */
function decodeOpenSsh(text: string): Buffer | undefined {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/.exec(text)?.[1]
  if (body === undefined) return undefined
  const bytes = Buffer.from(body, 'base64')
  let offset = 'openssh-key-v1\0'.length
  const next = (): Buffer => {
    const end = offset + 4 + bytes.readUInt32BE(offset)
    const field = bytes.subarray(offset + 4, end)
    offset = end
    return field
  }
  // Cipher, key derivation and its options, then the number of keys.
  for (let field = 0; field < 3; field += 1) next()
  offset += 4
  return next()
}

const CURVES: Readonly<Record<string, readonly [name: string, bytes: number]>> = {
  'P-256': ['nistp256', 32],
  'P-384': ['nistp384', 48],
  'P-521': ['nistp521', 66],
}

function encodePublicKey(key: KeyObject): Buffer {
  const { kty, crv = '', x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  if (kty === 'RSA') return sshStrings(Buffer.from('ssh-rsa'), mpint(e), mpint(n))
  if (crv === 'Ed25519') return sshStrings(Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url'))
  const curve = CURVES[crv]
  if (!curve) throw new Error(`ssh has no keys of type ${kty} ${crv}`)
  const [name, size] = curve
  const point = Buffer.concat([Buffer.from([4]), padded(x, size), padded(y, size)])
  return sshStrings(Buffer.from(`ecdsa-sha2-${name}`), Buffer.from(name), point)
}

function padded(text: string, size: number): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  return Buffer.concat([Buffer.alloc(size - bytes.length), bytes])
}

/** A number whose top bit is set would be negative without a zero byte before it. */
function mpint(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  return (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes
}

/** Encodes SSH strings: four bytes of length, then the bytes. */
function sshStrings(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(
    fields.flatMap((bytes) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}
