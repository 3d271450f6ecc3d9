/**
 * Shares equal texts among objects: of thousands of objects of a kind most texts are the same, such as conditions, times
 * and names of networks, and each response has copies of its own.
 */

/** V8 shares shorter texts itself when it parses JSON. */
const MIN_LENGTH = 11
/** Longer texts are rarely equal. */
const MAX_LENGTH = 128
/** Texts of one object alone, such as its UID, are remembered too: all are forgotten when there are so many. */
const MAX_TEXTS = 4096

/** The returned function changes the value in place: it must be newly parsed, and nothing else may depend on it. */
export function createTextSharing(): <T>(value: T) => T {
  const texts = new Map<string, string>()
  const shareText = (text: string): string => {
    if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) return text
    const known = texts.get(text)
    if (known !== undefined) return known
    if (texts.size >= MAX_TEXTS) texts.clear()
    texts.set(text, text)
    return text
  }
  const share = (value: unknown): unknown => {
    if (typeof value === 'string') return shareText(value)
    if (typeof value !== 'object' || value === null) return value
    const members = value as Record<string, unknown>
    for (const key of Object.keys(members)) {
      const member = members[key]
      if (typeof member === 'string') members[key] = shareText(member)
      else if (typeof member === 'object') share(member)
    }
    return value
  }
  return <T>(value: T): T => share(value) as T
}
