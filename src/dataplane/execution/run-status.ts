/**
 * What a run says of itself: upstream's JobStatus and conditions, and beside them the result with the counts of every
 * host.
 *
 * Pure. A status that says the same as before is not written again.
 */

import type { Condition } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import type { AnsibleRun, AnsibleRunStatus } from '../kinds/ansible-run.ts'
import { maxAttempts } from './decide-attempt.ts'
import type { RunEnd } from './executor.ts'

const READY = 'Ready'
const JOB = 'AnsibleExecutionJobReady'

export function claimedStatus(
  run: AnsibleRun,
  attempt: number,
  hosts: readonly string[],
  now: string,
): AnsibleRunStatus {
  const { result: _, ...rest } = run.status ?? {}
  return {
    ...rest,
    JobStatus: 'Running',
    tries: attempt,
    running: { startedAt: now, hosts: [...hosts] },
    conditions: conditions(
      run,
      now,
      { status: 'False', reason: 'Requested', severity: 'Info' },
      'AnsibleEE job in progress',
    ),
  }
}

/** Back to where it was: somebody else was there first, and no host was touched. */
export function unclaimedStatus(run: AnsibleRun, attempt: number): AnsibleRunStatus {
  const { running: _, ...rest } = run.status ?? {}
  return { ...rest, JobStatus: 'Pending', tries: attempt - 1 }
}

export function waitingStatus(run: AnsibleRun, why: string, now: string): AnsibleRunStatus {
  return {
    ...run.status,
    JobStatus: 'Pending',
    conditions: conditions(run, now, { status: 'False', reason: 'Requested', severity: 'Info' }, `Waiting: ${why}`),
  }
}

export function progressStatus(run: AnsibleRun, task: string): AnsibleRunStatus {
  const { running } = run.status ?? {}
  return { ...run.status, ...(running && { running: { ...running, task } }) }
}

export function endedStatus(run: AnsibleRun, end: RunEnd, again: boolean, now: string): AnsibleRunStatus {
  const { running, ...rest } = run.status ?? {}
  const success = end.reason === 'Completed'
  const said = end.message ?? end.reason
  const tries = rest.tries ?? 0
  const exhausted = !again && !success && tries > 1
  const reason = exhausted ? 'BackoffLimitExceeded' : 'Error'
  return {
    ...rest,
    JobStatus: success ? 'Succeeded' : again ? 'Pending' : 'Failed',
    result: {
      reason: end.reason,
      ...(end.message !== undefined && { message: end.message }),
      ...(running && { startedAt: running.startedAt }),
      finishedAt: now,
      ...(end.hosts && { hosts: { ...end.hosts } }),
    },
    conditions: success
      ? conditions(run, now, { status: 'True', reason: READY }, 'AnsibleEE job completed')
      : conditions(
          run,
          now,
          { status: 'False', reason, severity: again ? 'Warning' : 'Error' },
          `AnsibleEE job error occurred: ${said}${again ? ` (attempt ${tries} of ${maxAttempts(run)})` : ''}`,
        ),
  }
}

export function isSameStatus(run: AnsibleRun, status: AnsibleRunStatus): boolean {
  return sameJson(run.status ?? {}, status)
}

function conditions(
  { status }: AnsibleRun,
  now: string,
  state: Pick<Condition, 'status' | 'reason' | 'severity'>,
  message: string,
): readonly Condition[] {
  return [READY, JOB].map((type) => {
    const before = status?.conditions?.find((condition) => condition.type === type)
    const next = { type, ...state, message }
    const same = before?.status === next.status && before.reason === next.reason && before.message === message
    return { ...next, lastTransitionTime: (same && before.lastTransitionTime) || now }
  })
}
