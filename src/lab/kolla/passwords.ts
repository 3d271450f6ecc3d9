/**
 * passwords.yml, made here: every key that Kolla-Ansible knows, kept once it exists.
 *
 * Values never leave this file and the tree; nothing prints them.
 */
import { createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { writeYaml } from '../../yaml/write.ts'
import { passwordKeys, type SecretKind } from './password-keys.ts'

export interface SshKeyPair {
  readonly private_key: string
  readonly public_key: string
}

export type Password = string | null | SshKeyPair
export type Passwords = Readonly<Record<string, Password>>

/** How a pair of SSH keys is made: four thousand bits take a second, so tests bring smaller ones. */
export type GenerateSshKey = () => Promise<SshKeyPair>

/** What exists stays, also keys of other releases; what is missing is made. */
export async function completePasswords(old: Passwords, makeSshKey: GenerateSshKey): Promise<Passwords> {
  const made = await Promise.all(
    [...passwordKeys].map(async ([key, kind]): Promise<readonly [string, Password]> => {
      const kept = old[key]
      if (kept !== undefined && (kept !== null || kind === 'empty')) return [key, kept]
      return [key, await generateSecret(kind, makeSshKey)]
    }),
  )
  const foreign = Object.entries(old).filter(([key]) => !passwordKeys.has(key))
  return Object.fromEntries([...made, ...foreign])
}

export function hasMissingPasswords(old: Passwords): boolean {
  return [...passwordKeys].some(([key, kind]) => old[key] === undefined || (old[key] === null && kind !== 'empty'))
}

const PLAIN = String.raw`(\w+): ([A-Za-z_/][\w./=-]*|"[^"\\\n]*")`
const KEY_PAIR = String.raw`(\w+):\n {2}private_key: \|\n(?: {4}[\w+/= -]+\n)+ {2}public_key: [\w+/=@. -]+`
/** What we write: a text of nothing but these is a mapping of passwords and pairs of keys, whatever else YAML may be. */
const ENTRY = new RegExp(String.raw`(?:---|#.*|${PLAIN}|${KEY_PAIR}|)\n`, 'gy')
const NOTHING = new Set(['null', 'Null', 'NULL', '""'])

/**
 * Whether a text is in the form that we write and has every password. To read some hundred lines as YAML takes longer
 * than to render the rest of the tree, so that is left to texts of which this cannot be said.
 */
export function isCompleteAsWritten(text: string): boolean {
  const found = new Map<string, SecretKind>()
  let end = 0
  for (const [entry, key, value = '', pair] of text.matchAll(ENTRY)) {
    end += entry.length
    const name = key ?? pair
    if (name === undefined) continue
    // A key that is there twice is a mistake, and not for us to judge.
    if (found.has(name)) return false
    found.set(name, pair !== undefined ? 'ssh-key' : NOTHING.has(value) ? 'empty' : 'password')
  }
  if (end < text.length) return false
  return [...passwordKeys].every(([key, kind]) => {
    const has = found.get(key)
    if (kind === 'empty') return has !== undefined
    return has === (kind === 'ssh-key' ? 'ssh-key' : 'password')
  })
}

function generateSecret(kind: SecretKind, makeSshKey: GenerateSshKey): Password | Promise<Password> {
  switch (kind) {
    case 'uuid':
      return randomUUID()
    case 'ssh-key':
      return makeSshKey()
    case 'digest':
      return createHmac('md5', randomUUID()).update('').digest('hex')
    case 'fernet':
      return randomBytes(32).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
    case 'salt':
      // The last character carries two bits of salt: any other than these four has padding that bcrypt refuses.
      return randomString(`./${ALPHANUMERIC}`, 21) + randomString('.Oeu', 1)
    case 'empty':
      return null
    case 'password':
      return randomString(ALPHANUMERIC, 40)
  }
}

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function randomString(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('')
}

/** Prechecks take a bare `key:` for a missing password, so an empty one is an explicit null. */
export function formatPasswords(passwords: Passwords): string {
  return `---\n${writeYaml(passwords)}`
}
