/**
 * Reads from runs what was tried and done on a host, by step.
 *
 * Pure. A run lists its hosts, each with the hash of its inputs; only these are compared, never the current inputs.
 */
import { getOwn } from '../../api/collections.ts'
import { asRecord } from '../../api/json.ts'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
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
  /** It changed nothing on the host: it has not started, or ended before it could. */
  readonly isHarmless: boolean
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

/** API servers write the times of creation, in whole seconds, and their clocks differ. */
const CREATION_GRACE_MS = 5_000

/** A host that was removed and added again is a new one: earlier runs prove nothing for it. */
export function isSince({ metadata: run }: AnsibleRun, { metadata }: KubeObject): boolean {
  if ((run.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid)) return true
  const ageMs = Date.parse(metadata.creationTimestamp ?? '') - Date.parse(run.creationTimestamp ?? '')
  return !(ageMs > CREATION_GRACE_MS)
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
  const request = annotations[RUN_REQUEST_ANNOTATION]
  return {
    run: name,
    number: Number(annotations[ATTEMPT_ANNOTATION] ?? 1),
    hash,
    ...(request !== undefined && { request }),
    ...describeOutcome(run, host),
  }
}

function describeOutcome(
  run: AnsibleRun,
  host: string,
): Pick<Attempt, 'outcome' | 'isHarmless' | 'finishedAt' | 'why'> {
  const { finishedAt } = run.status?.result ?? {}
  const outcome = attemptOutcome(run, host)
  const why = outcome === 'failed' ? failureMessage(run, host) : run.status?.running?.stalled
  return {
    outcome,
    isHarmless: hasEnded(run) ? neverReachedHost(run, host) : (run.status?.tries ?? 0) === 0,
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

/** True when a run that ended changed nothing on this host. */
export function neverReachedHost({ status }: AnsibleRun, host: string): boolean {
  if (status?.result?.reason === 'NotStarted') return true
  const counts = getOwn(status?.result?.hosts, host)
  return counts !== undefined && counts.unreachable > 0 && counts.ok === 0
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

/**
 * What is done on a host, by step: the recorded status, and what ended runs prove beyond it. The newest proof wins. A
 * later run with other inputs may change the host before it fails or is cancelled, so it is recorded, too, from its start.
 */
export function resolveApplied(
  recorded: Readonly<Record<string, Applied>> | undefined,
  steps: readonly string[],
  host: string,
  runs: readonly AnsibleRun[],
): Readonly<Record<string, Applied>> {
  const applied: Record<string, Applied> = { ...recorded }
  for (const step of steps) {
    const attempts = findAttempts(runs, host, step)
    const proof = newestProof(applied[step], attempts)
    if (proof) applied[step] = withOverwriting(proof, attempts)
  }
  return applied
}

function newestProof(recorded: Applied | undefined, attempts: readonly Attempt[]): Applied | undefined {
  let newest = recorded
  for (const { outcome, hash, run, finishedAt, request } of attempts) {
    if (outcome !== 'succeeded') continue
    if (newest && (newest.run === run || (newest.at ?? '') >= (finishedAt ?? ''))) continue
    newest = {
      hash,
      run,
      ...(finishedAt !== undefined && { at: finishedAt }),
      ...(request !== undefined && { request }),
    }
  }
  return newest
}

/** Keeps what is recorded, because its run may be deleted, unless that run ended before it reached the host. */
function withOverwriting(proof: Applied, attempts: readonly Attempt[]): Applied {
  const { overwrittenBy: recorded, ...rest } = proof
  const others = attempts.filter(({ hash, outcome }) => hash !== proof.hash && outcome !== 'succeeded')
  const isHarmless = others.some((attempt) => attempt.run === recorded && attempt.isHarmless)
  const later = byEnd(others).find((attempt) => isAfter(attempt, proof) && !attempt.isHarmless)
  const overwrittenBy = isHarmless ? later?.run : (recorded ?? later?.run)
  return overwrittenBy === undefined ? rest : { ...rest, overwrittenBy }
}

/** The failed attempts since the last success, in order of their ends. */
export function failuresAfter(applied: Applied | undefined, attempts: readonly Attempt[]): readonly Attempt[] {
  return byEnd(attempts.filter((attempt) => attempt.outcome === 'failed' && isAfter(attempt, applied)))
}

/** One that has not ended is the last. */
const endOf = ({ finishedAt }: Attempt): string => finishedAt ?? '~'

function isAfter(attempt: Attempt, applied: Applied | undefined): boolean {
  return endOf(attempt) > (applied?.at ?? '')
}

function byEnd(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : 1))
}

/** The last run that is known to have changed the host. */
export function previousRun(applied: Applied | undefined): string | undefined {
  return applied?.overwrittenBy ?? applied?.run
}

/** The runs that a status needs as its proofs until it is written. */
export function provingRuns(applied: Readonly<Record<string, Applied>> | undefined): readonly string[] {
  return Object.values(applied ?? {}).flatMap(({ run, overwrittenBy }) => [
    run,
    ...(overwrittenBy ? [overwrittenBy] : []),
  ])
}
