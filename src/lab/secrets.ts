/**
 * Everything secret of a lab: kept from the tree where it is there, made where it is not.
 *
 * What is there and cannot be read is a finding, never replaced: the running cloud still uses it.
 */
import { failure } from '../errors/failure.ts'
import { brokenSecret } from '../errors/lab-tree.ts'
import { readYaml } from '../yaml/read.ts'
import { fsidOf } from './ceph/conf.ts'
import { type CephKeys, completeCephKeys } from './ceph/users.ts'
import { certificateFiles, type Existing } from './certificates.ts'
import {
  completePasswords,
  isPlainlyComplete,
  lacksPasswords,
  type MakeSshKey,
  type Passwords,
  passwordsText,
  type SshKeyPair,
} from './kolla/passwords.ts'
import { type Lab, usesCeph } from './lab.ts'
import { ed25519SshKey, isPublicKey, rsaSshKey } from './ssh-keys.ts'
import type { TreeFile } from './tree.ts'

const PASSWORDS = 'kolla/passwords.yml'

export interface LabSecrets {
  readonly ssh: SshKeyPair
  /** The text of passwords.yml. */
  readonly passwords: string
  readonly certificates: readonly TreeFile[]
  /** Of a lab with Ceph. */
  readonly ceph?: CephSecrets
  /** What was made now, in words. */
  readonly made: readonly string[]
}

export interface CephSecrets {
  readonly fsid: string
  readonly keys: CephKeys
}

export interface SecretSettings {
  readonly existing: Existing
  readonly now: number
  readonly makeSshKey?: MakeSshKey
}

export async function gatherSecrets(lab: Lab, settings: SecretSettings): Promise<LabSecrets> {
  const { existing, now, makeSshKey = rsaSshKey } = settings
  const made: string[] = []
  const ssh = keptSshKey(existing) ?? (await ed25519SshKey(`stackloom-${lab.name}`))
  if (existing('ssh/id_ed25519') === undefined) made.push('the SSH key')
  const passwords = keptPasswords(existing) ?? (await newPasswords(existing, makeSshKey))
  if (passwords !== existing(PASSWORDS)) made.push('passwords')
  const { files: certificates, made: signed } = await certificateFiles(lab, existing, now)
  if (signed.length > 0) made.push(`certificates (${signed.join(', ')})`)
  if (!usesCeph(lab)) return { ssh, passwords, certificates, made }
  if (existing('ceph/ceph.conf') === undefined) made.push("Ceph's keys")
  return {
    ssh,
    passwords,
    certificates,
    ceph: { fsid: fsidOf(existing), keys: completeCephKeys(existing) },
    made,
  }
}

function keptSshKey(existing: Existing): SshKeyPair | undefined {
  const file = 'ssh/id_ed25519'
  const [private_key, public_key] = [existing(file), existing(`${file}.pub`)?.trim()]
  if (private_key === undefined) return undefined
  if (public_key === undefined || !isPublicKey(public_key)) {
    throw failure(
      brokenSecret,
      { file: `${file}.pub`, why: 'it is not the public half of the key' },
      { exitCode: 1 },
    )
  }
  return { private_key, public_key }
}

/** A file that lacks nothing stays as it is, to the letter. */
function keptPasswords(existing: Existing): string | undefined {
  const text = existing(PASSWORDS)
  if (text === undefined || isPlainlyComplete(text)) return text
  return lacksPasswords(readPasswords(existing)) ? undefined : text
}

async function newPasswords(existing: Existing, makeSshKey: MakeSshKey): Promise<string> {
  return passwordsText(await completePasswords(readPasswords(existing), makeSshKey))
}

function readPasswords(existing: Existing): Passwords {
  const text = existing(PASSWORDS)
  if (text === undefined) return {}
  const { value, findings } = readYaml(text, PASSWORDS)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Passwords
  const why = findings[0]?.message ?? 'it is not a mapping'
  throw failure(brokenSecret, { file: PASSWORDS, why }, { exitCode: 1 })
}
