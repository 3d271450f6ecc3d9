/**
 * Attempts: what the runs that exist say about one host and one step.
 *
 * Pure. A run says for which hosts it was made, and with which inputs each of them: only that is compared, never what
 * the inputs are today.
 */

import type { GroupVersionKind } from '../../api/object.ts'
import { type AnsibleRun, ATTEMPT_ANNOTATION, hasEnded, limitedHosts } from '../kinds/ansible-run.ts'
import { type Applied, dataPlaneVersion } from '../kinds/data-plane.ts'

/** The inputs of each host of a run, as JSON: `{"edpm-compute-0": "3f2a…"}`. */
export const HOST_INPUTS_ANNOTATION = 'stackloom.dev/host-inputs'
/** What a run is a step of: `configure-network`, `nova`. */
export const STEP_ANNOTATION = 'stackloom.dev/step'
/** The run request that was in force. */
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
  /** Why it failed, in a few words. */
  readonly why?: string
}

/** Read once per run: a role's runs have hundreds of hosts, and each of them is looked at by itself. */
const parsedRuns = new WeakMap<AnsibleRun, { readonly inputs: HostInputs; readonly hosts: ReadonlySet<string> }>()
type HostInputs = Readonly<Record<string, string>>

function parseRunAnnotations(run: AnsibleRun): { readonly inputs: HostInputs; readonly hosts: ReadonlySet<string> } {
  const known = parsedRuns.get(run)
  if (known) return known
  const inputs = parseInputs(run.metadata.annotations?.[HOST_INPUTS_ANNOTATION] ?? '{}')
  const made = { inputs, hosts: new Set(limitedHosts(run) ?? Object.keys(inputs)) }
  parsedRuns.set(run, made)
  return made
}

function parseInputs(text: string): HostInputs {
  try {
    return JSON.parse(text) as HostInputs
  } catch {
    // Somebody edited it: then it is about nobody we know.
    return {}
  }
}

/** The hosts that a run was made for. */
export function runHosts(run: AnsibleRun): ReadonlySet<string> {
  return parseRunAnnotations(run).hosts
}

/**
 * Whether it is a run of phase 0, asked for by a role or a node: who writes a role names its steps, and may name one like a
 * service's.
 */
export function isPhaseZeroRun({ metadata }: AnsibleRun): boolean {
  return (metadata.ownerReferences ?? []).every(({ apiVersion }) => apiVersion === dataPlaneVersion)
}

/** Whether it was asked for by a service object of this kind. */
export function isServiceRun({ metadata }: AnsibleRun, { apiVersion, kind }: GroupVersionKind): boolean {
  return (metadata.ownerReferences ?? []).some(
    (ownerReference) => ownerReference.apiVersion === apiVersion && ownerReference.kind === kind,
  )
}

/** What this run says of this host and step; undefined when it is about something else. */
export function findAttempt(run: AnsibleRun, host: string, step: string): Attempt | undefined {
  const { annotations = {}, name } = run.metadata
  // The step first: most runs are about another, and thousands of hosts ask.
  if (annotations[STEP_ANNOTATION] !== step) return undefined
  const hash = parseRunAnnotations(run).inputs[host]
  if (hash === undefined) return undefined
  const result = run.status?.result
  const request = annotations[RUN_REQUEST_ANNOTATION]
  const outcome = attemptOutcome(run, host)
  return {
    run: name,
    number: Number(annotations[ATTEMPT_ANNOTATION] ?? 1),
    hash,
    outcome,
    ...(request !== undefined && { request }),
    ...(result?.finishedAt !== undefined && { finishedAt: result.finishedAt }),
    ...(outcome === 'failed' && { why: failureMessage(run, host) }),
  }
}

/** A host may have succeeded in a run that failed on others. Without a count of its own it shares the run's fate. */
function attemptOutcome(run: AnsibleRun, host: string): Outcome {
  if (!hasEnded(run)) return 'running'
  const own = run.status?.result?.hosts?.[host]
  if (run.status?.JobStatus === 'Succeeded') return own && hasFailed(own) ? 'failed' : 'succeeded'
  const { reason } = run.status?.result ?? {}
  // Ansible stops a host at its first failure only; a run that was cut short says nothing good about anybody.
  const complete = reason === 'Failed' || reason === 'Unreachable'
  return complete && own && !hasFailed(own) && !stopsOnFirstFailure(run) ? 'succeeded' : 'failed'
}

function hasFailed({ failures, unreachable }: { failures: number; unreachable: number }): boolean {
  return failures > 0 || unreachable > 0
}

/** With any_errors_fatal one host's failure ends the others in the middle. */
function stopsOnFirstFailure({ spec }: AnsibleRun): boolean {
  if (spec.roles) return spec.roles.any_errors_fatal ?? true
  return /^\s*-?\s*(any_errors_fatal|max_fail_percentage)\s*:/m.test(spec.play ?? '')
}

function failureMessage(run: AnsibleRun, host: string): string {
  const { reason = 'Failed', message, hosts } = run.status?.result ?? {}
  const own = hosts?.[host]
  if (own?.unreachable) return 'the host could not be reached'
  if (own?.failures) return message ?? 'a task failed'
  return message ?? reason
}

/**
 * Whether a run that has not ended may touch this host. Which hosts one without a list may touch, only
 * its executor knows.
 */
export function isActiveOn(run: AnsibleRun, host: string): boolean {
  return !hasEnded(run) && runHosts(run).has(host)
}

/**
 * What is known to be done on a host, by step: the record, and what ended runs prove beyond it. The newest proof wins.
 */
export function resolveApplied(
  recorded: Readonly<Record<string, Applied>> | undefined,
  steps: readonly string[],
  host: string,
  runs: readonly AnsibleRun[],
): Readonly<Record<string, Applied>> {
  const applied: Record<string, Applied> = { ...recorded }
  for (const step of steps) {
    for (const run of runs) {
      const attempt = findAttempt(run, host, step)
      if (attempt?.outcome !== 'succeeded') continue
      const known = applied[step]
      if (known && (known.run === attempt.run || (known.at ?? '') >= (attempt.finishedAt ?? ''))) continue
      applied[step] = {
        hash: attempt.hash,
        run: attempt.run,
        ...(attempt.finishedAt !== undefined && { at: attempt.finishedAt }),
        ...(attempt.request !== undefined && { request: attempt.request }),
      }
    }
  }
  return applied
}
