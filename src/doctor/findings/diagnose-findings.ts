/** SL9500: errors of the doctor itself. */
import { problem } from '../../errors/finding.ts'

export const ruleFailed = problem<{ rule: string; reason: string }>({
  code: 'SL9500',
  severity: 'warning',
  title: 'A rule of the doctor failed',
  message: ({ rule, reason }) => `the rule ${rule} failed: ${reason}`,
  remedy: () => 'report it together with the objects that the rule reads; all other rules were evaluated',
  description: `Rules read objects from clusters and dumps, which may be malformed. A rule that throws an error is reported and has no result:
whether the problem exists in the cluster is unknown.`,
  example: { rule: 'metallb/pending-unknown-pool', reason: 'pools is not iterable' },
})
