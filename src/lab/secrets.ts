/**
 * Collects the secrets of a lab: keeps those of the existing tree and generates the missing ones.
 *
 * A secret that cannot be read is reported and never replaced, because the running cloud still uses it.
 */
import { failure } from '../errors/failure.ts'
import { readYaml } from '../yaml/read.ts'
import { type CephKeys, ensureCephKeys, ensureFsid } from './ceph.ts'
import { ensureCertificates } from './certificates.ts'
import { unreadableSecret } from './findings/rendered-tree.ts'
import {
  completePasswords,
  formatPasswords,
  type GenerateSshKey,
  hasMissingPasswords,
  isCompleteAsWritten,
  type Passwords,
  type SshKeyPair,
} from './kolla/passwords.ts'
import { type Lab, usesCeph } from './lab.ts'
import { generateEd25519Key, generateRsaKey, isEd25519PublicKey } from './ssh.ts'
import type { ReadExisting, TreeFile } from './tree.ts'

const PASSWORDS = 'kolla/passwords.yml'

export interface LabSecrets {
  readonly ssh: SshKeyPair
  /** The text of passwords.yml. */
  readonly passwords: string
  readonly certificates: readonly TreeFile[]
  /** Only of a lab with Ceph. */
  readonly ceph?: CephSecrets
  /** Names of the secrets that were generated now. */
  readonly made: readonly string[]
}

export interface CephSecrets {
  readonly fsid: string
  readonly keys: CephKeys
}

export interface SecretOptions {
  readonly existing: ReadExisting
  readonly now: number
  readonly makeSshKey?: GenerateSshKey
}

export async function ensureSecrets(lab: Lab, options: SecretOptions): Promise<LabSecrets> {
  const { existing, now, makeSshKey = generateRsaKey } = options
  const made: string[] = []
  const ssh = existingSshKey(existing) ?? (await generateEd25519Key(`stackloom-${lab.name}`))
  if (existing('ssh/id_ed25519') === undefined) made.push('the SSH key')
  const passwords = completeExistingPasswords(existing) ?? (await generatePasswords(existing, makeSshKey))
  if (passwords !== existing(PASSWORDS)) made.push('passwords')
  const { files: certificates, issued } = await ensureCertificates(lab, existing, now)
  if (issued.length > 0) made.push(`certificates (${issued.join(', ')})`)
  if (!usesCeph(lab)) return { ssh, passwords, certificates, made }
  if (existing('ceph/ceph.conf') === undefined) made.push("Ceph's keys")
  const ceph = { fsid: ensureFsid(existing), keys: ensureCephKeys(existing) }
  return { ssh, passwords, certificates, ceph, made }
}

function existingSshKey(existing: ReadExisting): SshKeyPair | undefined {
  const file = 'ssh/id_ed25519'
  const [private_key, public_key] = [existing(file), existing(`${file}.pub`)?.trim()]
  if (private_key === undefined) return undefined
  if (public_key === undefined || !isEd25519PublicKey(public_key)) {
    throw failure(
      unreadableSecret,
      { file: `${file}.pub`, why: 'it is not the public half of the key' },
      { exitCode: 1 },
    )
  }
  return { private_key, public_key }
}

/** A complete file is kept byte for byte. */
function completeExistingPasswords(existing: ReadExisting): string | undefined {
  const text = existing(PASSWORDS)
  if (text === undefined || isCompleteAsWritten(text)) return text
  return hasMissingPasswords(readPasswords(existing)) ? undefined : text
}

async function generatePasswords(existing: ReadExisting, makeSshKey: GenerateSshKey): Promise<string> {
  return formatPasswords(await completePasswords(readPasswords(existing), makeSshKey))
}

function readPasswords(existing: ReadExisting): Passwords {
  const text = existing(PASSWORDS)
  if (text === undefined) return {}
  const { value, findings } = readYaml(text, PASSWORDS)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Passwords
  const why = findings[0]?.message ?? 'it is not a mapping'
  throw failure(unreadableSecret, { file: PASSWORDS, why }, { exitCode: 1 })
}
