/**
 * Builds the status of a run: upstream's JobStatus and conditions, and the result with the counts of every host.
 *
 * Pure.
 */
import type { Condition } from '../../api/object.ts'
import { stampConditions } from '../../controllers/kit/conditions.ts'
import type { Finding } from '../../errors/finding.ts'
import type { AnsibleRun, AnsibleRunStatus } from '../kinds/ansible-run.ts'
import { maxAttempts } from './decide-attempt.ts'
import type { RunEnd } from './executor.ts'
import { explainFailure } from './explain-failure.ts'

type ConditionState = Pick<Condition, 'status' | 'reason' | 'severity' | 'message'>

const requested = (message: string): ConditionState => ({
  status: 'False',
  reason: 'Requested',
  severity: 'Info',
  message,
})

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
    conditions: runConditions(run, now, inProgress()),
  }
}

/** Withdraws a claim: another run was first, and no host was touched. */
export function unclaimedStatus(run: AnsibleRun, attempt: number): AnsibleRunStatus {
  const { running: _, ...rest } = run.status ?? {}
  return { ...rest, JobStatus: 'Pending', tries: attempt - 1 }
}

export function waitingStatus(run: AnsibleRun, why: string, now: string): AnsibleRunStatus {
  return {
    ...run.status,
    JobStatus: 'Pending',
    conditions: runConditions(run, now, requested(`Waiting: ${why}`)),
  }
}

/** The task that began last, and why the attempt makes no progress. */
export interface Progress {
  readonly task?: string | undefined
  readonly stall?: Finding
}

export function progressStatus(run: AnsibleRun, { task, stall }: Progress, now: string): AnsibleRunStatus {
  const { running } = run.status ?? {}
  if (!running) return { ...run.status }
  const { stalled: before, ...rest } = running
  const stalled = stall && `${stall.message} (${stall.code}: ${stall.remedy})`
  return {
    ...run.status,
    running: { ...rest, ...(task !== undefined && { task }), ...(stalled !== undefined && { stalled }) },
    ...(stalled !== before && { conditions: runConditions(run, now, inProgress(stalled)) }),
  }
}

function inProgress(stalled?: string): ConditionState {
  const state = requested('AnsibleEE job in progress')
  return stalled === undefined ? state : { ...state, severity: 'Warning', message: `${state.message}: ${stalled}` }
}

/** `again`: the attempt has ended, the run is retried. */
export function endedStatus(run: AnsibleRun, ended: RunEnd, again: boolean, now: string): AnsibleRunStatus {
  const { running, ...rest } = run.status ?? {}
  const end = explainEnd(ended)
  const isSuccess = end.reason === 'Completed'
  return {
    ...rest,
    JobStatus: isSuccess ? 'Succeeded' : again ? 'Pending' : 'Failed',
    result: {
      reason: end.reason,
      ...(end.message !== undefined && { message: end.message }),
      ...(running && { startedAt: running.startedAt }),
      finishedAt: now,
      ...(end.hosts && { hosts: { ...end.hosts } }),
    },
    conditions: runConditions(run, now, isSuccess ? completed : failed(run, end, again)),
  }
}

/** Only a host that was reached, or could not be, has a cause of its own. */
function explainEnd(end: RunEnd): RunEnd {
  const { message, reason } = end
  if (message === undefined || (reason !== 'Failed' && reason !== 'Unreachable')) return end
  return { ...end, message: explainFailure(message) }
}

const completed: ConditionState = { status: 'True', reason: 'Ready', message: 'AnsibleEE job completed' }

function failed(run: AnsibleRun, { message, reason }: RunEnd, again: boolean): ConditionState {
  const tries = run.status?.tries ?? 0
  const attempt = again ? ` (attempt ${tries} of ${maxAttempts(run)})` : ''
  return {
    status: 'False',
    reason: !again && tries > 1 ? 'BackoffLimitExceeded' : 'Error',
    severity: again ? 'Warning' : 'Error',
    message: `AnsibleEE job error occurred: ${message ?? reason}${attempt}`,
  }
}

function runConditions({ status }: AnsibleRun, now: string, state: ConditionState): readonly Condition[] {
  const conditions = ['Ready', 'AnsibleExecutionJobReady'].map((type) => ({ type, ...state }))
  return stampConditions(conditions, status?.conditions, now)
}
