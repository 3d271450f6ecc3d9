/** The list of decisions, from the first line of each record. */

const RECORD = /^\d{4}-[a-z0-9-]+\.md$/

/** `records` are texts by file name. */
export function decisionIndex(records: ReadonlyMap<string, string>): string {
  const lines = [...records]
    .filter(([name]) => RECORD.test(name))
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, text]) => `- [${text.split('\n')[0]?.replace(/^# /, '')}](${name})`)
  return `# Decisions

What was decided, why, and what was measured. A record is not rewritten when the decision changes: a new one says so.
Generated from the records by \`make docs\`.

${lines.join('\n')}
`
}
