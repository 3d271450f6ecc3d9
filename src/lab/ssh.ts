/** Generates SSH key pairs in OpenSSH's formats without ssh-keygen, and renders the SSH configuration of the nodes. */
import { createPublicKey, generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { failure } from '../errors/failure.ts'
import { unusablePath } from './findings/rendered-tree.ts'
import type { SshKeyPair } from './kolla/passwords.ts'
import type { Lab } from './lab.ts'
import { banner, type TreeFile } from './tree.ts'

const generateKeyPairAsync = promisify(generateKeyPair)

/** The format that Kolla-Ansible uses for its services: a PKCS#8 private key and an OpenSSH public key. */
export async function generateRsaKey(bits = 4096): Promise<SshKeyPair> {
  const { publicKey, privateKey } = await generateKeyPairAsync('rsa', { modulusLength: bits })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const blob = Buffer.concat([encodeField('ssh-rsa'), encodeMpint(e), encodeMpint(n)])
  return {
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    public_key: `ssh-rsa ${blob.toString('base64')}`,
  }
}

/** The format of the lab's own key. */
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
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1))
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

/** Prepends a zero byte when the top bit is set, because the number would be negative. */
function encodeMpint(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url')
  return encodeField((bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}

/**
 * Quotes an argument of ssh_config. ssh expands `%` and `${…}` in paths, and only `%` can be escaped; a line break would
 * begin another option. Both are refused.
 */
export function quoteSshArgument(text: string): string {
  const obstacle = /\p{Cc}|\$\{/u.exec(text)?.[0]
  if (obstacle !== undefined) throw failure(unusablePath, { path: text, part: obstacle })
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`).replaceAll('%', '%%')}"`
}

/** For `ssh -F ssh/config node1`. Paths are absolute, because ssh resolves relative ones from the working directory. */
export function sshConfigFile(lab: Lab, folder: string): TreeFile {
  const hosts = lab.nodes.map(
    (node) => `Host ${node.name}
  HostName ${node.address}
`,
  )
  return {
    path: 'ssh/config',
    text: `${banner()}${hosts.join('')}Host *
  User ${lab.user}
  IdentityFile ${quoteSshArgument(`${folder}/ssh/id_ed25519`)}
  IdentitiesOnly yes
  UserKnownHostsFile ${quoteSshArgument(`${folder}/ssh/known_hosts`)}
  StrictHostKeyChecking accept-new
  BatchMode yes
  ConnectTimeout 10
`,
  }
}
