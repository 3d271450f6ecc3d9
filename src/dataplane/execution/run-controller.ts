/**
 * The controller of OpenStackAnsibleEE: gathers what is known of a run, has it decided, and lets an executor act.
 *
 * It acts on this object alone, whoever made it. A run is claimed on the API server before it begins and its result is
 * recorded there before any evidence goes: a crash in between leaves an attempt without a recorded end, never two.
 */

import { formatTimestamp, objectKey } from '../../api/object.ts'
import { formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import {
  runEndUnknown,
  runFailed,
  runInputMissing,
  runInputUnusable,
  runTimedOut,
  runUnreachable,
} from '../findings/runs.ts'
import { type AnsibleRun, type AnsibleRunStatus, ansibleRuns, hasEnded, limitedHosts } from '../kinds/ansible-run.ts'
import {
  ANY_HOST,
  type AttemptDecision,
  decideAttempt,
  findConflictingRun,
  inputHash,
  type RunSettings,
} from './decide-attempt.ts'
import type { Attempt, Executor, RunEnd } from './executor.ts'
import { parseInventories, targetAddresses } from './inventory-hosts.ts'
import { buildRunFiles, inventoryTexts } from './run-files.ts'
import { type RunInputs, readRunInputs } from './run-inputs.ts'
import {
  claimedStatus,
  endedStatus,
  isSameStatus,
  progressStatus,
  unclaimedStatus,
  waitingStatus,
} from './run-status.ts'

const FINALIZER = 'stackloom.dev/ansible-run'
/** On every run that may work on hosts: so that asking for those does not mean asking for all there ever were. */
const ACTIVE_LABEL = 'stackloom.dev/active'
const FIELD_MANAGER = 'stackloom-runs'

/** Runs begin in parallel; an attempt itself takes no worker. */
const WORKERS = 16

export interface RunDelays {
  /** For inputs that are not there yet. */
  readonly inputsMs: number
  /** For hosts that somebody else works on; the end of the other one wakes us too. */
  readonly conflictingRunMs: number
  /** After a conflict on the API server. */
  readonly conflictMs: number
  /** For an attempt that is being cancelled. */
  readonly cancelMs: number
  /** At most so often the task that runs is written down. */
  readonly progressMs: number
}

export const defaultRunDelays: RunDelays = {
  inputsMs: 5_000,
  conflictingRunMs: 30_000,
  conflictMs: 100,
  cancelMs: 1_000,
  progressMs: 5_000,
}

export interface RunControllerDeps {
  readonly client: Runtime['client']
  readonly runs: SharedCache<AnsibleRun>
  readonly executor: Executor
  readonly settings: RunSettings
  readonly pauses?: RunDelays
  readonly record: (happening: EventRecord) => void
  /** Further kinds whose changes concern a run: the Jobs of an executor. */
  readonly watches?: readonly Watch[]
}

export function runController(world: RunControllerDeps): Controller {
  const pauses = world.pauses ?? defaultRunDelays
  return {
    name: 'ansible-run',
    workers: WORKERS,
    watches: [
      { kind: ansibleRuns },
      // Whoever ends may leave hosts to those who wait for them.
      { kind: ansibleRuns, map: (object) => waitingRuns(world, object as AnsibleRun) },
      ...(world.watches ?? []),
    ],
    reconcile: async (request, context) => {
      const run = world.runs.get(objectKey(request))
      if (!run) return undefined
      try {
        return await reconcileRun({ world, pauses, context }, run)
      } catch (error) {
        if (!isApiError(error, 'conflict', 'not-found')) throw error
        // Somebody else wrote first, and the watch will tell what; that is no failure.
        return { requeueAfterMs: pauses.conflictMs * (1 + context.clock.random()) }
      }
    },
  }
}

/** By which runs are found beside their keys. */
export const runIndexes = {
  state: ({ metadata, status }: AnsibleRun): readonly string[] => [
    `${metadata.namespace} ${status?.JobStatus ?? 'Pending'}`,
  ],
  inputs: (run: AnsibleRun): readonly string[] => {
    const hash = inputHash(run)
    return hash === undefined ? [] : [`${run.metadata.namespace} ${hash}`]
  },
}

/** Those that work now, and those with the same inputs. */
function relatedRuns({ runs }: RunControllerDeps, run: AnsibleRun): readonly AnsibleRun[] {
  const { namespace } = run.metadata
  const inputs = runIndexes.inputs(run).flatMap((value) => runs.byIndex('inputs', value))
  return [...runs.byIndex('state', `${namespace} Running`), ...inputs]
}

function waitingRuns({ runs }: RunControllerDeps, run: AnsibleRun): readonly string[] {
  const freed = hasEnded(run) || (run.status?.tries ?? 0) > 0
  if (!freed || run.status?.JobStatus === 'Running') return []
  return runs.byIndex('state', `${run.metadata.namespace} Pending`).map((ansibleRun) => objectKey(ansibleRun.metadata))
}

interface Scene {
  readonly world: RunControllerDeps
  readonly pauses: RunDelays
  readonly context: ReconcileContext
}

async function reconcileRun(scene: Scene, run: AnsibleRun): Promise<ReconcileResult | undefined> {
  const { world, context } = scene
  const running = run.status?.JobStatus === 'Running' && run.metadata.deletionTimestamp === undefined
  const standing = running ? await world.executor.inspect(currentAttempt(run), context.signal) : undefined
  for (const note of standing?.kind === 'running' ? (standing.failures ?? []) : []) {
    world.record({ regarding: run, type: 'Warning', reason: 'TaskFailed', action: 'Run', note })
  }
  const decision = decideAttempt({
    run,
    hasFinalizer: hasFinalizer(run),
    ...(standing && { executorState: standing }),
    others: running ? [] : relatedRuns(world, run),
    // Whom it works on is known when its inputs are read: rivals are looked for then.
    addresses: [],
    nowMs: context.clock.now(),
    settings: world.settings,
  })
  return act(scene, run, decision)
}

async function act(scene: Scene, run: AnsibleRun, decision: AttemptDecision): Promise<ReconcileResult | undefined> {
  const { world, pauses, context } = scene
  const now = formatTimestamp(context.clock.now())
  switch (decision.kind) {
    case 'nothing':
      return undefined
    case 'wait':
      await writeStatus(scene, run, waitingStatus(run, decision.why, now))
      return { requeueAfterMs: decision.forMs ?? pauses.conflictingRunMs }
    case 'begin':
      return beginAttempt(scene, run, decision.attempt)
    case 'progress':
      return writeProgress(scene, run, decision.task)
    case 'record':
      await recordEnd(scene, run, decision.end, decision.again)
      return undefined
    case 'clean':
      await world.executor.cleanUp(currentAttempt(run), context.signal)
      await removeFinalizer(scene, run)
      return undefined
    case 'leave': {
      const begun = (run.status?.tries ?? 0) > 0
      if (begun && !(await world.executor.cancel(currentAttempt(run), context.signal)))
        return { requeueAfterMs: pauses.cancelMs }
      if (begun) await world.executor.cleanUp(currentAttempt(run), context.signal)
      await removeFinalizer(scene, run)
      return undefined
    }
  }
}

function currentAttempt(run: AnsibleRun): Attempt {
  return { run, number: run.status?.tries ?? 1 }
}

/** Inputs, claim, rivals, start: in this order, so that no host is touched without all of them. */
async function beginAttempt(scene: Scene, run: AnsibleRun, number: number): Promise<ReconcileResult | undefined> {
  const { world, pauses, context } = scene
  const { signal, clock } = context
  const now = formatTimestamp(clock.now())
  const materials = await readRunInputs(world.client, run, signal)
  if (materials.missing.length > 0) {
    const { message } = finding(runInputMissing, { missing: materials.missing })
    await writeStatus(scene, run, waitingStatus(run, message, now))
    return { requeueAfterMs: pauses.inputsMs }
  }
  const { files, findings } = buildRunFiles(run, materials)
  const refusal = findings.find((finding) => world.executor.name === 'local' || !isAboutPods(finding))
  if (refusal) {
    await recordEnd(scene, run, { reason: 'NotStarted', message: refusal.message }, false)
    return undefined
  }
  const addresses = targetAddresses(parseInventories(inventoryTexts(files)), limitedHosts(run))
  const rival = findConflictingRun(run, addresses, relatedRuns(world, run))
  if (rival) return act(scene, run, { kind: 'wait', why: `${rival.metadata.name} works on the same hosts` })
  const hosts = addresses ?? [ANY_HOST]
  const marked = await addFinalizer(scene, run)
  const mine = await updateStatus(scene, marked, claimedStatus(marked, number, hosts, now))
  if (await hasConflictingClaim(scene, mine, addresses)) {
    await updateStatus(scene, mine, unclaimedStatus(mine, number))
    return { requeueAfterMs: pauses.conflictingRunMs * clock.random() }
  }
  world.record({
    regarding: mine,
    type: 'Normal',
    reason: 'Started',
    action: 'Run',
    note: `attempt ${number} begins on ${addresses ? addresses.join(', ') : 'all hosts of its inventory'}`,
  })
  return startAttempt(scene, mine, materials)
}

async function startAttempt(scene: Scene, run: AnsibleRun, materials: RunInputs): Promise<ReconcileResult | undefined> {
  const { world, context } = scene
  try {
    await world.executor.start(currentAttempt(run), materials, context.signal)
  } catch (error) {
    // A claim that this program could not use is given up as such; one that a stop broke off is left as it is.
    if (context.signal.aborted) throw error
    await recordEnd(scene, run, { reason: 'NotStarted', message: formatError(error) }, false)
  }
  return undefined
}

/** Asked of the API server itself, after the claim: of two who claim the same hosts at once, each sees the other. */
async function hasConflictingClaim(
  { world, context }: Scene,
  run: AnsibleRun,
  addresses: readonly string[] | undefined,
): Promise<boolean> {
  const { namespace = '' } = run.metadata
  const options = { namespace, labelSelector: `${ACTIVE_LABEL}=true`, signal: context.signal }
  const { items } = await world.client.list(ansibleRuns, options)
  return findConflictingRun(run, addresses, items as unknown as readonly AnsibleRun[]) !== undefined
}

async function writeProgress(scene: Scene, run: AnsibleRun, task: string | undefined): Promise<ReconcileResult> {
  const { pauses } = scene
  if (task !== undefined) await writeStatus(scene, run, progressStatus(run, task))
  return { requeueAfterMs: pauses.progressMs }
}

async function recordEnd(scene: Scene, run: AnsibleRun, end: RunEnd, again: boolean): Promise<void> {
  const { world, context } = scene
  const stored = await updateStatus(scene, run, endedStatus(run, end, again, formatTimestamp(context.clock.now())))
  const told = endFinding(run, end, world.settings)
  world.record({
    regarding: run,
    type: told ? 'Warning' : 'Normal',
    reason: end.reason,
    action: 'Run',
    note: told ? `${told.code}: ${told.message}. ${told.remedy}` : 'every task is done on every host',
  })
  if (again) await world.executor.cleanUp(currentAttempt(stored), context.signal)
}

/** What an end means, in the words of the catalogue. */
function endFinding(run: AnsibleRun, end: RunEnd, { timeLimitMs }: RunSettings): Finding | undefined {
  const { reason, message = reason, hosts = {} } = end
  const hostsWith = (count: 'failures' | 'unreachable'): readonly string[] =>
    Object.keys(hosts).filter((host) => (hosts[host]?.[count] ?? 0) > 0)
  switch (reason) {
    case 'Completed':
      return undefined
    case 'Failed':
      return finding(runFailed, { hosts: hostsWith('failures'), message })
    case 'Unreachable':
      return finding(runUnreachable, { hosts: hostsWith('unreachable'), message })
    case 'TimedOut':
      return finding(runTimedOut, { seconds: timeLimitMs / 1000 })
    case 'Unknown':
      return finding(runEndUnknown, { attempt: run.status?.tries ?? 1 })
    case 'NotStarted':
    case 'Cancelled':
      return finding(runInputUnusable, { what: 'the run', reason: message })
  }
}

/** What only a machine without pods cannot do. */
function isAboutPods({ message }: Finding): boolean {
  return /a Job$|without a pod$/.test(message)
}

function hasFinalizer({ metadata }: AnsibleRun): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false
}

async function addFinalizer({ world, context }: Scene, run: AnsibleRun): Promise<AnsibleRun> {
  if (hasFinalizer(run)) return run
  const finalizers = [...(run.metadata.finalizers ?? []), FINALIZER]
  const labels = { ...run.metadata.labels, [ACTIVE_LABEL]: 'true' }
  return updateRun(world, run, { ...run, metadata: { ...run.metadata, finalizers, labels } }, context.signal)
}

async function removeFinalizer({ world, context }: Scene, run: AnsibleRun): Promise<void> {
  const finalizers = (run.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER)
  const { [ACTIVE_LABEL]: _, ...labels } = run.metadata.labels ?? {}
  const next = { ...run, metadata: { ...run.metadata, finalizers, labels } }
  await world.client.update(next, { fieldManager: FIELD_MANAGER, signal: context.signal })
}

async function updateRun(
  world: RunControllerDeps,
  before: AnsibleRun,
  next: AnsibleRun,
  signal: AbortSignal,
): Promise<AnsibleRun> {
  const written = (await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })) as AnsibleRun
  world.runs.note(written, before.metadata.resourceVersion ?? '')
  return written
}

async function writeStatus(scene: Scene, run: AnsibleRun, status: AnsibleRunStatus): Promise<void> {
  if (!isSameStatus(run, status)) await updateStatus(scene, run, status)
}

/** With the version that it was decided on: whoever decided on an older one is refused. */
async function updateStatus({ world, context }: Scene, run: AnsibleRun, status: AnsibleRunStatus): Promise<AnsibleRun> {
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status', signal: context.signal } as const
  const written = (await world.client.update({ ...run, status }, options)) as AnsibleRun
  world.runs.note(written, run.metadata.resourceVersion ?? '')
  return written
}
