/** Encrypts and decrypts the Secrets of a backup in the format of age, so that `age -d` reads them, too. */
import { Decrypter, Encrypter } from 'age-encryption'
import { failure, formatError } from '../errors/failure.ts'
import { badRecipient, wrongKey } from './findings.ts'

export async function seal(text: string, recipients: readonly string[]): Promise<Uint8Array> {
  const encrypter = new Encrypter()
  for (const recipient of recipients) addRecipient(encrypter, recipient)
  return encrypter.encrypt(text)
}

/** Refuses a recipient before anything else is done. */
export function checkRecipients(recipients: readonly string[]): void {
  const encrypter = new Encrypter()
  for (const recipient of recipients) addRecipient(encrypter, recipient)
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  // A secret key on the command line is in the history of the shell, and its text must not reach the screen.
  if (/AGE-(SECRET|PLUGIN)/i.test(recipient))
    throw failure(badRecipient, { recipient: 'a secret key', reason: 'only public keys are recipients' })
  try {
    encrypter.addRecipient(recipient)
  } catch (thrown) {
    throw failure(badRecipient, { recipient: recipient.slice(0, 80), reason: formatError(thrown) }, { cause: thrown })
  }
}

/** `identities` is the text of an identity file: lines with keys, and comments. */
export async function unseal(content: Uint8Array, identities: string): Promise<string> {
  const decrypter = new Decrypter()
  const keys = identities.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  if (keys.length === 0) throw failure(wrongKey, { reason: 'the identity file has no key' })
  for (const key of keys) addIdentity(decrypter, key.trim())
  try {
    return await decrypter.decrypt(content, 'text')
  } catch (thrown) {
    throw failure(wrongKey, { reason: formatError(thrown) }, { cause: thrown })
  }
}

/** The library repeats a key that it cannot read, so neither its text nor its error is passed on. */
function addIdentity(decrypter: Decrypter, key: string): void {
  try {
    decrypter.addIdentity(key)
  } catch {
    throw failure(wrongKey, { reason: 'the identity file has a line that is no secret key of age, or a damaged one' })
  }
}
