/**
 * Generates the missing values of passwords.yml and keeps the existing ones.
 *
 * The values go into the tree only; nothing prints them.
 */
import { createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { writeYaml } from '../../yaml/write.ts'
import { passwordKeys, type SecretKind } from './release.ts'

export interface SshKeyPair {
  readonly private_key: string
  readonly public_key: string
}

export type Password = string | null | SshKeyPair
export type Passwords = Readonly<Record<string, Password>>

/** Injected, because a key of 4096 bits takes a second; tests use smaller ones. */
export type GenerateSshKey = () => Promise<SshKeyPair>

/** Keeps all existing values, those of other releases included. */
export async function completePasswords(old: Passwords, makeSshKey: GenerateSshKey): Promise<Passwords> {
  const complete = await Promise.all(
    [...passwordKeys].map(async ([key, kind]): Promise<readonly [string, Password]> => {
      const existing = old[key]
      if (existing !== undefined && (existing !== null || kind === 'empty')) return [key, existing]
      return [key, await generateSecret(kind, makeSshKey)]
    }),
  )
  const otherReleases = Object.entries(old).filter(([key]) => !passwordKeys.has(key))
  return Object.fromEntries([...complete, ...otherReleases])
}

export function hasMissingPasswords(old: Passwords): boolean {
  return [...passwordKeys].some(([key, kind]) => old[key] === undefined || (old[key] === null && kind !== 'empty'))
}

const PLAIN = String.raw`(\w+): ([A-Za-z_/][\w./=-]*|"[^"\\\n]*")`
const KEY_PAIR = String.raw`(\w+):\n {2}private_key: \|\n(?: {4}[\w+/= -]+\n)+ {2}public_key: [\w+/=@. -]+`
/** The subset of YAML that `formatPasswords` writes: a text of such entries is a mapping of passwords and key pairs. */
const ENTRY = new RegExp(String.raw`(?:---|#.*|${PLAIN}|${KEY_PAIR}|)\n`, 'gy')
const EMPTY_VALUES = new Set(['null', 'Null', 'NULL', '""'])

/**
 * Whether a text has the format of `formatPasswords` and every password. Parsing hundreds of lines of YAML takes longer
 * than rendering the rest of the tree, so only other texts are parsed.
 */
export function isCompleteAsWritten(text: string): boolean {
  const found = new Map<string, SecretKind>()
  let end = 0
  for (const [entry, key, value = '', pair] of text.matchAll(ENTRY)) {
    end += entry.length
    const name = key ?? pair
    if (name === undefined) continue
    // A duplicate key is an error, which the YAML parser reports.
    if (found.has(name)) return false
    found.set(name, pair !== undefined ? 'ssh-key' : EMPTY_VALUES.has(value) ? 'empty' : 'password')
  }
  if (end < text.length) return false
  return [...passwordKeys].every(([key, kind]) => {
    const foundKind = found.get(key)
    if (kind === 'empty') return foundKind !== undefined
    return foundKind === (kind === 'ssh-key' ? 'ssh-key' : 'password')
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
      // The last character carries two bits of salt: bcrypt refuses the padding of all but these four.
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

/** Prechecks take a bare `key:` for a missing password, so an empty password is written as null. */
export function formatPasswords(passwords: Passwords): string {
  return `---\n${writeYaml(passwords)}`
}
