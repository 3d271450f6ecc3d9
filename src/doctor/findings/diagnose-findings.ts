/** SL9500: the doctor itself. What it finds is in `doctor-<family>.ts`, SL9501 and up. */
import { problem } from '../../errors/finding.ts'

export const ruleFailed = problem<{ rule: string; reason: string }>({
  code: 'SL9500',
  severity: 'warning',
  title: 'A rule of the doctor broke on what it was given',
  message: ({ rule, reason }) => `the rule ${rule} broke: ${reason}`,
  remedy: () => 'the other rules were judged; report it together with the object that the rule looks at',
  description: `Rules read objects of clusters and of dumps, which may have any shape. One that breaks is named, and says nothing
about the cluster: what it would have found is unknown.`,
  example: { rule: 'metallb/pending-unknown-pool', reason: 'pools is not iterable' },
})
