/** Explains tests of a probe that have no result: which ones, why, and what to do. Pure. */
import { groupBy } from '../../api/collections.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { testsWithoutResult } from '../findings/probe-findings.ts'
import { encodeTask, formatPodLocation, type ProbePod, type ProbeTask } from './probe-tasks.ts'

/** One finding per cause. */
export function openTestFindings(pod: ProbePod, tasks: readonly ProbeTask[]): readonly Finding[] {
  const byCause = groupBy(tasks, ({ kind }) => causes[kind] ?? CUT_OFF)
  return [...byCause].map(([cause, open]) => {
    const tests = [...new Set(open.map(encodeTask))]
    return finding(testsWithoutResult, { from: formatPodLocation(pod), tests, ...cause })
  })
}

interface Cause {
  readonly reason: string
  readonly remedy: string
}

/** The script prints nothing where its own conditions for a test do not hold. */
const causes: Readonly<Partial<Record<ProbeTask['kind'], Cause>>> = {
  routed: {
    reason: 'the pod has no default route through the node',
    // Multus 4.2 compares routes with a value that its netlink library no longer returns.
    remedy:
      'use a Multus that applies `default-route` of the annotation (4.2 ignores it), and check that no other network of the pod sets the default route',
  },
  tagged: {
    reason: 'an untagged frame does not pass the bridge between two interfaces of the pod within two seconds',
    remedy:
      'check that the bridge is up and both interfaces are its ports (`bridge link` on the node); on a busy machine run the command again',
  },
  neighbours: {
    reason: 'the pod does not receive its own multicast within six seconds',
    remedy:
      'check that IPv6 is enabled on the interface of the pod and that the switch passes multicast; on a busy machine run the command again',
  },
}

const CUT_OFF: Cause = {
  reason: 'the script of the probe ended before them',
  remedy: 'check the events of its pod and the memory of the node, and run the command again',
}
