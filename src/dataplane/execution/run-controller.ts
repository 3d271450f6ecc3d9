/**
 * Reconciles OpenStackAnsibleEE: gathers the state of a run, decides, and lets an executor act.
 *
 * It acts on every run, created by a controller or a person. A run is claimed on the API server before it starts, and its result is
 * recorded there before any evidence is removed: a crash in between leaves an attempt without a result, never two.
 */
import { formatTimestamp, objectKey } from '../../api/object.ts'
import { createWriter, requeueOnConflict, type Writer } from '../../controllers/kit/writes.ts'
import { formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import {
  hostKeyChanged,
  runEndUnknown,
  runFailed,
  runInputMissing,
  runInputUnusable,
  runTimedOut,
  runUnreachable,
} from '../findings/runs.ts'
import { type AnsibleRun, type AnsibleRunStatus, ansibleRuns, hasEnded, limitedHosts } from '../kinds/ansible-run.ts'
import type { DataPlaneNode } from '../kinds/data-plane.ts'
import {
  ANY_HOST,
  type AttemptDecision,
  decideAttempt,
  findConflictingRun,
  formatConflict,
  inputHash,
  type RunSettings,
} from './decide-attempt.ts'
import type { Attempt, Executor, RunEnd } from './executor.ts'
import { type HostKeys, knownHostKeys } from './host-keys.ts'
import { type InventoryHosts, parseInventories, targetAddresses } from './inventory-hosts.ts'
import { buildRunFiles, inventoryTexts } from './run-files.ts'
import { type RunInputs, readRunInputs } from './run-inputs.ts'
import { findForbidden, type RunPolicy } from './run-policy.ts'
import {
  claimedStatus,
  endedStatus,
  type Progress,
  progressStatus,
  unclaimedStatus,
  waitingStatus,
} from './run-status.ts'

const FINALIZER = 'stackloom.dev/ansible-run'
/** On every run that may touch hosts, so that listing these does not list all runs that ever existed. */
const ACTIVE_LABEL = 'stackloom.dev/active'
const FIELD_MANAGER = 'stackloom-runs'

/** How many runs start in parallel; an attempt itself occupies no worker. */
const WORKERS = 16

export interface RunDelays {
  /** While inputs are missing. */
  readonly inputsMs: number
  /** While another run is active on the hosts; its end also enqueues this one. */
  readonly conflictingRunMs: number
  /** While an attempt is being cancelled. */
  readonly cancelMs: number
  /** Between two writes of the current task. */
  readonly progressMs: number
}

export const defaultRunDelays: RunDelays = {
  inputsMs: 5_000,
  conflictingRunMs: 30_000,
  cancelMs: 1_000,
  progressMs: 5_000,
}

export interface RunControllerDeps {
  readonly client: Runtime['client']
  readonly runs: SharedCache<AnsibleRun>
  /** Nodes have the SSH host keys that runs accept. */
  readonly nodes?: Pick<SharedCache<DataPlaneNode>, 'get' | 'note'>
  readonly executor: Executor
  readonly settings: RunSettings
  /** What the pod of a run may use. */
  readonly policy: RunPolicy
  readonly delays?: RunDelays
  readonly record: (event: EventRecord) => void
  /** Further kinds whose changes concern a run: the Jobs of an executor. */
  readonly watches?: readonly Watch[]
}

/** One reconcile: the dependencies of the controller and the context of the call. */
interface RunReconcile extends RunControllerDeps {
  readonly delays: RunDelays
  readonly writer: Writer
  readonly context: ReconcileContext
}

export function runController(deps: RunControllerDeps): Controller {
  const { client, runs, delays = defaultRunDelays } = deps
  const writer = createWriter({ client, fieldManager: FIELD_MANAGER })
  return {
    name: 'ansible-run',
    workers: WORKERS,
    watches: [
      { kind: ansibleRuns },
      // A run that ends frees hosts for those that wait.
      { kind: ansibleRuns, map: (object) => waitingRuns(runs, object as AnsibleRun) },
      ...(deps.watches ?? []),
    ],
    reconcile: requeueOnConflict(
      async (request, context) => {
        const run = runs.get(objectKey(request))
        return run && reconcileRun({ ...deps, delays, writer, context }, run)
      },
      ['conflict', 'not-found'],
    ),
  }
}

/** Indexes of the run cache: active ones of the cluster, others by namespace and state, and by namespace and input hash. */
export const runIndexes = {
  state: ({ metadata, status }: AnsibleRun): readonly string[] => {
    const state = status?.JobStatus ?? 'Pending'
    return [state === 'Running' ? state : `${metadata.namespace} ${state}`]
  },
  inputs: (run: AnsibleRun): readonly string[] => {
    const hash = inputHash(run)
    return hash === undefined ? [] : [`${run.metadata.namespace} ${hash}`]
  },
}

/** Runs that are active in any namespace, and runs with the same inputs. */
function relatedRuns(runs: SharedCache<AnsibleRun>, run: AnsibleRun): readonly AnsibleRun[] {
  const sameInputs = runIndexes.inputs(run).flatMap((value) => runs.byIndex('inputs', value))
  return [...runs.byIndex('state', 'Running'), ...sameInputs]
}

function waitingRuns(runs: SharedCache<AnsibleRun>, run: AnsibleRun): readonly string[] {
  const wasStarted = hasEnded(run) || (run.status?.tries ?? 0) > 0
  if (!wasStarted || run.status?.JobStatus === 'Running') return []
  // Those of other namespaces look again after a while: waking all of a cluster at each end would be quadratic.
  return runs.byIndex('state', `${run.metadata.namespace} Pending`).map(({ metadata }) => objectKey(metadata))
}

async function reconcileRun(reconcile: RunReconcile, run: AnsibleRun): Promise<ReconcileResult | undefined> {
  const { runs, executor, settings, record, context } = reconcile
  const isRunning = run.status?.JobStatus === 'Running' && run.metadata.deletionTimestamp === undefined
  const executorState = isRunning ? await executor.inspect(currentAttempt(run), context.signal) : undefined
  for (const note of executorState?.kind === 'running' ? (executorState.failures ?? []) : []) {
    record({ regarding: run, type: 'Warning', reason: 'TaskFailed', action: 'Run', note })
  }
  const decision = decideAttempt({
    run,
    hasFinalizer: hasFinalizer(run),
    ...(executorState && { executorState }),
    others: isRunning ? [] : relatedRuns(runs, run),
    // Its hosts are known only after its inputs are read: `beginAttempt` looks for conflicting runs.
    addresses: [],
    nowMs: context.clock.now(),
    settings,
  })
  return act(reconcile, run, decision)
}

async function act(
  reconcile: RunReconcile,
  run: AnsibleRun,
  decision: AttemptDecision,
): Promise<ReconcileResult | undefined> {
  const { executor, delays, context } = reconcile
  const { signal, clock } = context
  switch (decision.kind) {
    case 'nothing':
      return undefined
    case 'wait':
      await updateStatus(reconcile, run, waitingStatus(run, decision.why, formatTimestamp(clock.now())))
      return { requeueAfterMs: decision.forMs ?? delays.conflictingRunMs }
    case 'begin':
      return beginAttempt(reconcile, run, decision.attempt)
    case 'progress':
      await reportProgress(reconcile, run, decision)
      return { requeueAfterMs: delays.progressMs }
    case 'record':
      await recordEnd(reconcile, run, decision.end, decision.again)
      return undefined
    case 'clean':
      await executor.cleanUp(currentAttempt(run), signal)
      await removeFinalizer(reconcile, run)
      return undefined
    case 'cancel': {
      const wasStarted = (run.status?.tries ?? 0) > 0
      if (wasStarted && !(await executor.cancel(currentAttempt(run), signal))) {
        const state = await executor.inspect(currentAttempt(run), signal)
        if (state.kind === 'running') await reportProgress(reconcile, run, state)
        return { requeueAfterMs: delays.cancelMs }
      }
      if (wasStarted) await executor.cleanUp(currentAttempt(run), signal)
      await removeFinalizer(reconcile, run)
      return undefined
    }
  }
}

/** An Event only when it begins to stall: the status has the reason as long as it lasts. */
async function reportProgress(reconcile: RunReconcile, run: AnsibleRun, progress: Progress): Promise<void> {
  const { stall } = progress
  if (stall && run.status?.running?.stalled === undefined) {
    const note = `${stall.code}: ${stall.message}. ${stall.remedy}`
    reconcile.record({ regarding: run, type: 'Warning', reason: 'Stalled', action: 'Run', note })
  }
  await updateStatus(reconcile, run, progressStatus(run, progress, formatTimestamp(reconcile.context.clock.now())))
}

function currentAttempt(run: AnsibleRun): Attempt {
  return { run, number: run.status?.tries ?? 1 }
}

/** Reads inputs, claims, checks for conflicting runs and starts, in this order: no host is touched without all of them. */
async function beginAttempt(
  reconcile: RunReconcile,
  run: AnsibleRun,
  number: number,
): Promise<ReconcileResult | undefined> {
  const { client, runs, executor, record, policy, delays, settings, context } = reconcile
  const { signal, clock } = context
  const now = formatTimestamp(clock.now())
  const [forbidden] = executor.name === 'local' ? [] : findForbidden(run, policy)
  if (forbidden) {
    const message = `${forbidden.code}: ${forbidden.message}`
    await recordEnd(reconcile, run, { reason: 'NotStarted', message }, false)
    return undefined
  }
  const inputs = await readRunInputs(client, run, signal)
  if (inputs.missing.length > 0) {
    const { message } = finding(runInputMissing, { missing: inputs.missing })
    await updateStatus(reconcile, run, waitingStatus(run, message, now))
    return { requeueAfterMs: delays.inputsMs }
  }
  const { files, findings, needsPod } = buildRunFiles(run, inputs)
  const refusal = findings.find((found) => executor.name === 'local' || !needsPod.includes(found))
  if (refusal) {
    await recordEnd(reconcile, run, { reason: 'NotStarted', message: refusal.message }, false)
    return undefined
  }
  const hosts = parseInventories(inventoryTexts(files))
  const addresses = targetAddresses(hosts, limitedHosts(run))
  const conflicting = findConflictingRun(run, addresses, relatedRuns(runs, run), { nowMs: clock.now(), settings })
  if (conflicting) {
    return act(reconcile, run, { kind: 'wait', why: formatConflict(run, conflicting) })
  }
  const marked = await addFinalizer(reconcile, run)
  const claimed = await updateStatus(reconcile, marked, claimedStatus(marked, number, addresses ?? [ANY_HOST], now))
  if (await hasConflictingClaim(reconcile, claimed, addresses)) {
    await updateStatus(reconcile, claimed, unclaimedStatus(claimed, number))
    return { requeueAfterMs: delays.conflictingRunMs * clock.random() }
  }
  const note = `attempt ${number} starts on ${addresses ? addresses.join(', ') : 'all hosts of its inventory'}`
  record({ regarding: claimed, type: 'Normal', reason: 'Started', action: 'Run', note })
  const hostKeys = findHostKeys(reconcile, run, hosts)
  await startAttempt(reconcile, claimed, { ...inputs, hostKeys, ...(hosts && { hosts }) })
  return undefined
}

function findNode({ nodes }: RunReconcile, { metadata }: AnsibleRun, name: string): DataPlaneNode | undefined {
  return nodes?.get(objectKey({ namespace: metadata.namespace ?? '', name }))
}

function findHostKeys(reconcile: RunReconcile, run: AnsibleRun, hosts: InventoryHosts | undefined): HostKeys {
  const known = [...(hosts?.keys() ?? [])].flatMap((name) => {
    const node = findNode(reconcile, run, name)
    const keys = node && knownHostKeys(node)
    return keys ? [[name, keys] as const] : []
  })
  return Object.fromEntries(known)
}

/** The first key of a host is trusted; only a person replaces it. */
async function recordHostKeys(reconcile: RunReconcile, run: AnsibleRun, { hostKeys = {} }: RunEnd): Promise<void> {
  const { nodes, writer, context } = reconcile
  for (const [name, sshHostKeys] of Object.entries(hostKeys)) {
    const node = findNode(reconcile, run, name)
    if (!nodes || !node || knownHostKeys(node)) continue
    await writer.updateStatus(nodes, node, { ...node.status, sshHostKeys }, context.signal)
  }
}

async function startAttempt(reconcile: RunReconcile, run: AnsibleRun, inputs: RunInputs): Promise<void> {
  const { executor, context } = reconcile
  try {
    await executor.start(currentAttempt(run), inputs, context.signal)
  } catch (error) {
    // A start that failed ends the attempt; one that the shutdown interrupted is left for the next operator.
    if (context.signal.aborted) throw error
    await recordEnd(reconcile, run, { reason: 'NotStarted', message: formatError(error) }, false)
  }
}

/** Reads the API server after the claim: of two runs that claim the same hosts at once, each sees the other. */
async function hasConflictingClaim(
  { client, settings, context }: RunReconcile,
  run: AnsibleRun,
  addresses: readonly string[] | undefined,
): Promise<boolean> {
  const options = { labelSelector: `${ACTIVE_LABEL}=true`, signal: context.signal }
  const { items } = await client.list(ansibleRuns, options)
  const others = items as unknown as readonly AnsibleRun[]
  return findConflictingRun(run, addresses, others, { nowMs: context.clock.now(), settings }) !== undefined
}

async function recordEnd(reconcile: RunReconcile, run: AnsibleRun, end: RunEnd, again: boolean): Promise<void> {
  const { executor, record, settings, context } = reconcile
  // First: a crash after the end is recorded would lose them, and the next key would be trusted.
  await recordHostKeys(reconcile, run, end)
  const status = endedStatus(run, end, again, formatTimestamp(context.clock.now()))
  const stored = await updateStatus(reconcile, run, status)
  const found = endFinding(run, end, settings)
  const note = found ? `${found.code}: ${found.message}. ${found.remedy}` : 'every task succeeded on every host'
  record({ regarding: run, type: found ? 'Warning' : 'Normal', reason: end.reason, action: 'Run', note })
  if (again) await executor.cleanUp(currentAttempt(stored), context.signal)
}

function endFinding(run: AnsibleRun, end: RunEnd, { timeLimitMs }: RunSettings): Finding | undefined {
  const { reason, message = reason, hosts = {}, refusedKey } = end
  if (refusedKey) return finding(hostKeyChanged, refusedKey)
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

function hasFinalizer({ metadata }: AnsibleRun): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false
}

async function addFinalizer({ runs, writer, context }: RunReconcile, run: AnsibleRun): Promise<AnsibleRun> {
  if (hasFinalizer(run)) return run
  const finalizers = [...(run.metadata.finalizers ?? []), FINALIZER]
  const labels = { ...run.metadata.labels, [ACTIVE_LABEL]: 'true' }
  return writer.updateMetadata(runs, run, { finalizers, labels }, context.signal)
}

async function removeFinalizer({ client, context }: RunReconcile, run: AnsibleRun): Promise<void> {
  const finalizers = (run.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER)
  const { [ACTIVE_LABEL]: _, ...labels } = run.metadata.labels ?? {}
  const released = { ...run, metadata: { ...run.metadata, finalizers, labels } }
  // Not noted in the cache: a run that is being deleted is gone after this write.
  await client.update(released, { fieldManager: FIELD_MANAGER, signal: context.signal })
}

/** Written on the version that was decided on: a decision on an older one is refused. */
function updateStatus(
  { runs, writer, context }: RunReconcile,
  run: AnsibleRun,
  status: AnsibleRunStatus,
): Promise<AnsibleRun> {
  return writer.updateStatus(runs, run, status, context.signal)
}
