/** Extracts the error line from the output of nmstate, which contains tracebacks, logs and whole states. */

/** `NmstateError: InvalidArgument: …` in current versions, `libnmstate.error.NmstateValueError: …` in older ones. */
const ERROR = /(?:NmstateError|libnmstate\.error\.\w+|Nmstate\w+Error):\s*(.*?)\s*$/
const NOISE =
  /^\s*$|^\s*File "|^Traceback|^\s{2,}\w|\b(?:INFO|DEBUG|WARN)\b|^desired$|^current$|^=+$|^---$|exit status|^'+$/

export function extractNmstateError(text: string): string {
  const lines = text.split('\n')
  for (const [index, line] of [...lines.entries()].reverse()) {
    const found = ERROR.exec(line)
    if (!found) continue
    const message = trimStrayQuote(found[1] ?? '')
    return message === '' ? (formatDifference(lines.slice(index + 1)) ?? formatErrorName(line)) : message
  }
  const probe = lines.find((line) => /probe/i.test(line))
  if (probe !== undefined) return probe.trim()
  const last = lines.findLast((line) => !NOISE.test(line)) ?? lines.find((line) => line.trim() !== '')
  return (last ?? 'no reason given').trim().replace(/^"",\s*/, '')
}

/** The handler quotes the whole output, so the closing quote may be on the error line. */
function trimStrayQuote(text: string): string {
  return text.endsWith("'") && text.split("'").length % 2 === 0 ? text.slice(0, -1) : text
}

/** A verification error has no message, only a diff of the two states. */
function formatDifference(lines: readonly string[]): string | undefined {
  const changed = lines.filter((line) => /^[-+](?![-+])/.test(line)).map((line) => line.trim())
  const about = lines.map((line) => /^\s*name:\s*(\S+)/.exec(line)?.[1]).find((name) => name !== undefined)
  if (changed.length === 0) return undefined
  const desired = changed.filter((line) => line.startsWith('-')).map((line) => line.slice(1).trim())
  const has = changed.filter((line) => line.startsWith('+')).map((line) => line.slice(1).trim())
  return `${about ?? 'the node'} should have ${desired.join(', ') || 'nothing'} but has ${has.join(', ') || 'nothing'}`
}

function formatErrorName(line: string): string {
  return line.trim().replace(/:\s*$/, '')
}
