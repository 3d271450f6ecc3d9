/**
 * Reads from runs what was tried and done on a host, by step.
 *
 * Pure. A run lists its hosts, each with the hash of its inputs; only these are compared, never the current inputs.
 */
import { getOwn } from '../../api/collections.ts'
import { asRecord } from '../../api/json.ts'
import type { GroupVersionKind } from '../../api/object.ts'
import { type AnsibleRun, ATTEMPT_ANNOTATION, hasEnded, limitedHosts } from '../kinds/ansible-run.ts'
import { type Applied, dataPlaneVersion } from '../kinds/data-plane.ts'

/** The input hash of each host of a run, as JSON: `{"edpm-compute-0": "3f2a…"}`. */
export const HOST_INPUTS_ANNOTATION = 'stackloom.dev/host-inputs'
/** The step that a run executes: `configure-network`, `nova`. */
export const STEP_ANNOTATION = 'stackloom.dev/step'
/** The run request that was current when the run was created. */
export const RUN_REQUEST_ANNOTATION = 'stackloom.dev/run-request'

export type Outcome = 'running' | 'succeeded' | 'failed'

/** One run, as far as one host is concerned. */
export interface Attempt {
  readonly run: string
  readonly number: number
  readonly hash: string
  readonly outcome: Outcome
  readonly request?: string
  readonly finishedAt?: string
  /** Why it failed, in a few words; of one that runs, why it makes no progress. */
  readonly why?: string
}

type HostInputs = Readonly<Record<string, string>>
interface RunHosts {
  readonly inputs: HostInputs
  readonly hosts: ReadonlySet<string>
}

/** Parsed once per run: a role's run has hundreds of hosts, and each of them is evaluated separately. */
const parsedRuns = new WeakMap<AnsibleRun, RunHosts>()

function parseRunHosts(run: AnsibleRun): RunHosts {
  const known = parsedRuns.get(run)
  if (known) return known
  const inputs = parseInputs(run.metadata.annotations?.[HOST_INPUTS_ANNOTATION] ?? '{}')
  const parsed = { inputs, hosts: new Set(limitedHosts(run) ?? Object.keys(inputs)) }
  parsedRuns.set(run, parsed)
  return parsed
}

function parseInputs(text: string): HostInputs {
  try {
    const entries = Object.entries(asRecord(JSON.parse(text)))
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    // The annotation was edited: the run counts for no host.
    return {}
  }
}

/** The hosts that a run was created for. */
export function runHosts(run: AnsibleRun): ReadonlySet<string> {
  return parseRunHosts(run).hosts
}

/** Created by a role or a node. The step name does not tell: a role may name a step like a service's. */
export function isPhaseZeroRun({ metadata }: AnsibleRun): boolean {
  return (metadata.ownerReferences ?? []).every(({ apiVersion }) => apiVersion === dataPlaneVersion)
}

/** Created by a service object of this kind. */
export function isServiceRun({ metadata }: AnsibleRun, { apiVersion, kind }: GroupVersionKind): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.apiVersion === apiVersion && owner.kind === kind)
}

/** Undefined when the run is about another host or step. */
export function findAttempt(run: AnsibleRun, host: string, step: string): Attempt | undefined {
  const { annotations = {}, name } = run.metadata
  // The step is compared first: most runs are about another one, and thousands of hosts ask.
  if (annotations[STEP_ANNOTATION] !== step) return undefined
  const hash = getOwn(parseRunHosts(run).inputs, host)
  if (hash === undefined) return undefined
  const { finishedAt } = run.status?.result ?? {}
  const request = annotations[RUN_REQUEST_ANNOTATION]
  const outcome = attemptOutcome(run, host)
  const why = outcome === 'failed' ? failureMessage(run, host) : run.status?.running?.stalled
  return {
    run: name,
    number: Number(annotations[ATTEMPT_ANNOTATION] ?? 1),
    hash,
    outcome,
    ...(request !== undefined && { request }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(why !== undefined && { why }),
  }
}

export function findAttempts(runs: readonly AnsibleRun[], host: string, step: string): readonly Attempt[] {
  return runs.flatMap((run) => findAttempt(run, host, step) ?? [])
}

/** A host may have succeeded in a run that failed on others. A host without counts gets the outcome of the run. */
function attemptOutcome(run: AnsibleRun, host: string): Outcome {
  if (!hasEnded(run)) return 'running'
  const counts = getOwn(run.status?.result?.hosts, host)
  if (run.status?.JobStatus === 'Succeeded') return counts && hasFailed(counts) ? 'failed' : 'succeeded'
  const { reason } = run.status?.result ?? {}
  // Ansible stops a host only at its own first failure; a run that was cut short proves nothing for any host.
  const isComplete = reason === 'Failed' || reason === 'Unreachable'
  return isComplete && counts && !hasFailed(counts) && !stopsOnFirstFailure(run) ? 'succeeded' : 'failed'
}

function hasFailed({ failures, unreachable }: { failures: number; unreachable: number }): boolean {
  return failures > 0 || unreachable > 0
}

/** With any_errors_fatal the failure of one host stops the others halfway. */
function stopsOnFirstFailure({ spec }: AnsibleRun): boolean {
  if (spec.roles) return spec.roles.any_errors_fatal ?? true
  return (spec.play ?? '').split('\n').some((line) => {
    const text = line.trimStart()
    const field = text.startsWith('-') ? text.slice(1).trimStart() : text
    return /^(any_errors_fatal|max_fail_percentage)\s*:/.test(field)
  })
}

function failureMessage(run: AnsibleRun, host: string): string {
  const { reason = 'Failed', message, hosts } = run.status?.result ?? {}
  const counts = getOwn(hosts, host)
  if (counts?.unreachable) return 'the host could not be reached'
  if (counts?.failures) return message ?? 'a task failed'
  return message ?? reason
}

/** Whether a run that has not ended may touch this host. For a run without a list of hosts only its executor knows. */
export function isActiveOn(run: AnsibleRun, host: string): boolean {
  return !hasEnded(run) && runHosts(run).has(host)
}

/** What is done on a host, by step: the recorded status, and what ended runs prove beyond it. The newest proof wins. */
export function resolveApplied(
  recorded: Readonly<Record<string, Applied>> | undefined,
  steps: readonly string[],
  host: string,
  runs: readonly AnsibleRun[],
): Readonly<Record<string, Applied>> {
  const applied: Record<string, Applied> = { ...recorded }
  for (const step of steps) {
    for (const { outcome, hash, run, finishedAt, request } of findAttempts(runs, host, step)) {
      if (outcome !== 'succeeded') continue
      const known = applied[step]
      if (known && (known.run === run || (known.at ?? '') >= (finishedAt ?? ''))) continue
      applied[step] = {
        hash,
        run,
        ...(finishedAt !== undefined && { at: finishedAt }),
        ...(request !== undefined && { request }),
      }
    }
  }
  return applied
}
