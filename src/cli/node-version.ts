/** Says that a Node gets no fixes any more. The program runs on it, because many machines have no newer one. Pure. */

/** The month in which the support of a major version ended. */
const ENDED: Readonly<Record<string, string>> = {
  '20': 'April 2026',
  '21': 'June 2024',
  '23': 'June 2025',
  '25': 'June 2026',
}

/** A notice for a person at a terminal; undefined where the Node is supported. */
export function unsupportedNodeNotice(version: string): string | undefined {
  const ended = ENDED[version.replace(/^v/, '').split('.')[0] ?? '']
  if (ended === undefined) return undefined
  return `note: Node ${version.replace(/^v/, '')} gets no security fixes since ${ended}; install Node 24\n`
}
