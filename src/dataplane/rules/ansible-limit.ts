/** Matches hosts against Ansible's limit syntax: names, groups, `*`, `!` and `&`. Pure. */

/** `unknown`: the limit uses a form that only Ansible can evaluate, such as an expression or a subscript. */
export type LimitMatch = 'within' | 'outside' | 'unknown'

/** `groups` are the inventory groups of the host: with the NodeSet API the name of its node set. */
export type LimitMatcher = (host: string, groups: readonly string[]) => LimitMatch

export function matchLimit(host: string, groups: readonly string[], limit: string): LimitMatch {
  return compileLimit(limit)(host, groups)
}

/** Reads a limit once for many hosts: one that lists hundreds of names is compared with each of them. */
export function compileLimit(limit: string): LimitMatcher {
  // Ansible separates by comma, or by colon where there is no comma.
  const separator = limit.includes(',') ? ',' : ':'
  const patterns = limit
    .split(separator)
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
  if (!patterns.every((pattern) => SIMPLE.test(pattern))) return () => 'unknown'
  const withSign = (sign: string): readonly string[] =>
    patterns.filter((pattern) => pattern.startsWith(sign)).map((pattern) => pattern.slice(1))
  const isIncluded = compilePatterns(patterns.filter((pattern) => !/^[!&]/.test(pattern)))
  const isExcluded = compilePatterns(withSign('!'))
  const required = withSign('&').map((pattern) => compilePatterns([pattern]))
  return (host, groups) => {
    const names = ['all', ...groups, host]
    const isWithin =
      (isIncluded === undefined || isIncluded(names)) &&
      required.every((matches) => matches?.(names)) &&
      !isExcluded?.(names)
    return isWithin ? 'within' : 'outside'
  }
}

/** Whether one of the names matches one of the patterns; undefined without patterns. */
function compilePatterns(patterns: readonly string[]): ((names: readonly string[]) => boolean) | undefined {
  if (patterns.length === 0) return undefined
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')))
  const globs = patterns.filter((pattern) => pattern.includes('*'))
  return (names) => names.some((name) => exact.has(name) || globs.some((glob) => matchesGlob(name, glob)))
}

const SIMPLE = /^[!&]?[\w.*-]+$/

/** `a,b*`, `all`, `!c`: the part of Ansible's limit syntax that the webhooks of the Role/Node API accept. */
export function isWithinLimit(host: string, limit: string): boolean {
  const patterns = limit.split(/[,:]/).filter((pattern) => pattern !== '')
  if (patterns.length === 0) return true
  const matches = (pattern: string): boolean => pattern === 'all' || matchesGlob(host, pattern)
  const included = patterns.filter((pattern) => !pattern.startsWith('!'))
  const excluded = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  return (included.length === 0 || included.some(matches)) && !excluded.some(matches)
}

/**
 * The pieces between the stars, each at its first place after the one before. Not an expression: one with many stars takes
 * exponential time.
 */
function matchesGlob(text: string, pattern: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return text === pattern
  if (!text.startsWith(head)) return false
  let position = head.length
  for (const piece of rest) {
    const found = text.indexOf(piece, position)
    if (found < 0) return false
    position = found + piece.length
  }
  return text.length - tail.length >= position && text.endsWith(tail)
}
