/** SSH key pairs in OpenSSH's own formats, without ssh-keygen. */
import { createPublicKey, generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { SshKeyPair } from './kolla/passwords.ts'

const generateKeyPairAsync = promisify(generateKeyPair)

/** What Kolla-Ansible itself would make for its services: PKCS#8 and an OpenSSH public key. */
export async function generateRsaKey(bits = 4096): Promise<SshKeyPair> {
  const { publicKey, privateKey } = await generateKeyPairAsync('rsa', { modulusLength: bits })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const blob = Buffer.concat([encodeField('ssh-rsa'), encodeMpint(e), encodeMpint(n)])
  return {
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    public_key: `ssh-rsa ${blob.toString('base64')}`,
  }
}

/** The key of the lab: ed25519, in the format that every ssh reads. */
export async function generateEd25519Key(comment: string): Promise<SshKeyPair> {
  const { publicKey, privateKey } = await generateKeyPairAsync('ed25519')
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const publicBlob = Buffer.concat([encodeField('ssh-ed25519'), encodeField(point)])
  const check = randomBytes(4)
  const secret = Buffer.concat([
    check,
    check,
    encodeField('ssh-ed25519'),
    encodeField(point),
    encodeField(Buffer.concat([seed, point])),
    encodeField(comment),
  ])
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, at) => at + 1))
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    encodeField('none'),
    encodeField('none'),
    encodeField(''),
    encodeUint32(1),
    encodeField(publicBlob),
    encodeField(Buffer.concat([secret, padding])),
  ])
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? []
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} OPENSSH PRIVATE KEY-----`)
  return {
    private_key: `${[begin, ...lines, end].join('\n')}\n`,
    public_key: `ssh-ed25519 ${publicBlob.toString('base64')} ${comment}`,
  }
}

/** Half of an OpenSSH private key is its public one. */
export function isEd25519PublicKey(text: string): boolean {
  const [kind = '', blob = ''] = text.trim().split(' ')
  if (kind !== 'ssh-ed25519') return false
  const point = Buffer.from(blob, 'base64').subarray(-32)
  try {
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function encodeField(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([encodeUint32(bytes.length), bytes])
}

/** A positive number: a set top bit would make it negative, so a zero goes before it. */
function encodeMpint(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url')
  return encodeField((bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}
