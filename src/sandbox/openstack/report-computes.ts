/** Reports compute hosts that do not run, with the last error of their log. */
import { type Finding, finding } from '../../errors/finding.ts'
import { computeHostFailed } from '../hosts/findings.ts'
import type { CloudRecord } from './clouds.ts'
import { watchLogs } from './logged-errors.ts'

export async function reportComputes(clouds: readonly CloudRecord[]): Promise<readonly Finding[]> {
  const { findCause } = watchLogs()
  const failed = clouds.flatMap(({ cloud, computes }) =>
    computes.flatMap(({ name, reason, log }) => (reason === undefined ? [] : [{ name, cloud, reason, log }])),
  )
  return Promise.all(
    failed.map(async (facts) => {
      const cause = await findCause([facts.log])
      const reason = cause === undefined ? facts.reason : `${facts.reason}; it logs: ${cause}`
      return finding(computeHostFailed, { ...facts, reason })
    }),
  )
}
