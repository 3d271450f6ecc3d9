/**
 * Decommissions a service that is deleted: refuses while instances run on its host or their number is unknown, removes
 * the service from the host, then from the control plane.
 *
 * The host comes first: a nova-compute that still runs would register itself again.
 */
import { type Condition, objectKey } from '../../api/object.ts'
import { conditionForFinding, readyCondition, worstSeverity } from '../../controllers/kit/conditions.ts'
import { ignoreNotFound, type Writer } from '../../controllers/kit/writes.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts'
import type { Runtime } from '../../kube/runtime.ts'
import type { DataPlaneCaches } from '../caches.ts'
import { decommissionUnknown, instancesRunning } from '../findings/data-plane.ts'
import { type NovaCell, novaCells } from '../kinds/nova.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { findAttempts, neverReachedHost, resolveApplied } from '../runs/attempts.ts'
import {
  type Clearing,
  clearingCondition,
  DECOMMISSION_READY,
  describeClearing,
  FORCE_ANNOTATION,
} from '../runs/clearing.ts'
import { decideStep, type RunRetry } from '../runs/decide-step.ts'
import { hashInputs } from '../runs/input-hash.ts'
import { DECOMMISSION_PLAYBOOK } from '../runs/playbooks.ts'
import type { RunIndex } from '../runs/run-index.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { FIELD_MANAGER, FINALIZER, writeStatus } from '../writes.ts'
import { type ComputeHost, type ControlPlane, tryCountInstances } from './nova-control-plane.ts'
import { gatherServiceState, type ServiceState, type ServiceStateDeps } from './service-state.ts'
import { serviceRuns } from './service-steps.ts'

const RECHECK_MS = 30_000

export interface DecommissionDeps extends ServiceStateDeps {
  readonly client: Pick<Runtime['client'], 'update'>
  readonly caches: ServiceStateDeps['caches'] & Pick<DataPlaneCaches, 'serviceObjects'>
  readonly controlPlane: ControlPlane
  readonly runs: Pick<RunIndex, 'forHost' | 'activeRun' | 'start'>
  readonly retry: RunRetry
  readonly statusWriter: Writer
}

export async function decommission(
  deps: DecommissionDeps,
  definition: ServiceDefinition,
  service: ServiceObject,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { client, controlPlane } = deps
  const { signal } = context
  const { finalizers = [], annotations = {} } = service.metadata
  if (!finalizers.includes(FINALIZER)) return undefined
  const isForced = annotations[FORCE_ANNOTATION] === 'true'
  const compute = definition.registration && resolveComputeHost(deps, definition, service)
  if (mayBeOnHost(deps, definition, service)) {
    const refusal = isForced || !compute ? undefined : await checkInstances(controlPlane, compute, signal)
    if (refusal) {
      const condition = conditionForFinding(DECOMMISSION_READY, refusal, 'DeletionFailed')
      await writeCondition(deps, definition, service, condition, context)
      return { requeueAfterMs: RECHECK_MS }
    }
    const clearing = isForced ? undefined : await clearHost(deps, definition, service, context)
    if (clearing) {
      await writeCondition(deps, definition, service, clearingCondition(clearing), context)
      return clearing.retryAfterMs === undefined ? undefined : { requeueAfterMs: clearing.retryAfterMs }
    }
    if (compute) {
      await controlPlane.removeCompute(compute, signal).catch((error: unknown) => {
        if (!isForced) throw error
      })
    }
  }
  const metadata = { ...service.metadata, finalizers: finalizers.filter((finalizer) => finalizer !== FINALIZER) }
  await ignoreNotFound(client.update({ ...service, metadata }, { fieldManager: FIELD_MANAGER, signal }))
  return undefined
}

async function writeCondition(
  { statusWriter, caches }: DecommissionDeps,
  definition: ServiceDefinition,
  service: ServiceObject,
  condition: Condition,
  context: ReconcileContext,
): Promise<void> {
  const { conditions: _, ...fields } = service.status ?? {}
  const status = { conditions: [readyCondition([condition], worstSeverity), condition], fields }
  await writeStatus(statusWriter, caches.serviceObjects(definition), service, status, context)
}

/** A failed or active run may have left something on the host; a service that never reached it did not. */
function mayBeOnHost({ runs }: DecommissionDeps, definition: ServiceDefinition, service: ServiceObject): boolean {
  const { metadata, spec, status } = service
  if (Object.keys(status?.applied ?? {}).length > 0) return true
  const { name, uid } = metadata
  const host = spec.dataplaneNodeName ?? name
  return serviceRuns(runs, definition, service, host).some(
    (run) => run.metadata.ownerReferences?.some((owner) => owner.uid === uid) && !neverReachedHost(run, host),
  )
}

function resolveComputeHost(
  { caches }: DecommissionDeps,
  { dependency }: ServiceDefinition,
  service: ServiceObject,
): ComputeHost {
  const { namespace = '', name } = service.metadata
  const cellName = dependency.objectName(service) ?? ''
  const known = caches.ofKind(dependency.kind).get(objectKey({ namespace, name: cellName }))
  const cell = (known ?? { ...novaCells, metadata: { name: cellName, namespace }, spec: {} }) as NovaCell
  return { namespace, host: service.spec.dataplaneNodeName ?? name, cell }
}

async function checkInstances(
  controlPlane: ControlPlane,
  compute: ComputeHost,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const facts = { node: compute.host, override: FORCE_ANNOTATION }
  const count = await tryCountInstances(controlPlane, compute, signal)
  if (count.kind === 'unknown') return finding(decommissionUnknown, { ...facts, why: count.why })
  return count.count > 0 ? finding(instancesRunning, { ...facts, instances: count.count }) : undefined
}

/**
 * Runs the playbook that removes the service, by the rules of every other run: one at a time on a host, retried when it
 * fails, not after it succeeded. Undefined when nothing of the service is left on its host.
 */
async function clearHost(
  deps: DecommissionDeps,
  definition: ServiceDefinition,
  service: ServiceObject,
  { signal, clock }: ReconcileContext,
): Promise<Clearing | undefined> {
  const { runs, retry } = deps
  const { namespace = '', name, uid } = service.metadata
  const host = service.spec.dataplaneNodeName ?? name
  const state = await gatherServiceState(deps, definition, service, clock.now(), signal)
  const request = state.nodeView?.runRequest
  const step = `${definition.name}-${DECOMMISSION_PLAYBOOK}`
  const hash = hashInputs({ step, uid, request })
  const ownRuns = serviceRuns(runs, definition, service, host)
  const blockedBy = blockReason(state)
  const decision = decideStep({
    desiredHash: hash,
    applied: resolveApplied(undefined, [step], host, ownRuns)[step],
    attempts: findAttempts(ownRuns, host, step),
    heldReason: undefined,
    policy: 'auto',
    request,
    blockedBy,
    activeRun: runs.activeRun(namespace, host),
    retry,
    now: clock.now(),
  })
  if (decision.kind === 'done') return undefined
  if (decision.kind === 'start') {
    const attempt = { state, step, hash, host, number: decision.attempt }
    const refused = await startClearing(runs, definition, service, attempt, signal)
    if (refused) return { why: refused.message, finding: refused }
  }
  return describeClearing(decision, { kind: definition.annotation.kind.kind, host, blockedBy })
}

/** Without an inventory and a key Ansible cannot reach the host. */
function blockReason({ nodeView, inventory, conditions }: ServiceState): string | undefined {
  if (!nodeView) return 'its OpenStackDataPlaneNode does not exist any more'
  if (inventory) return nodeView.problems[0]?.message
  return conditions.find(({ status }) => status !== 'True')?.message ?? 'its inventory does not exist any more'
}

interface ClearingAttempt {
  readonly state: ServiceState
  readonly step: string
  readonly hash: string
  readonly host: string
  readonly number: number
}

async function startClearing(
  runs: DecommissionDeps['runs'],
  definition: ServiceDefinition,
  service: ServiceObject,
  { state, step, hash, host, number }: ClearingAttempt,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { inventory, nodeView } = state
  if (!inventory || !nodeView) return undefined
  const { text: _, ...inventorySource } = inventory
  const { sshSecret: __, ...runner } = nodeView.effective.runner
  const { spec } = service
  return runs.start(
    {
      owner: service,
      step,
      label: step,
      hosts: { [host]: hash },
      previousRuns: { [host]: '' },
      attempt: number,
      request: nodeView.runRequest,
      playbook: DECOMMISSION_PLAYBOOK,
      image: spec.ansibleEEContainerImage,
      // In reverse order: nova-compute before the libvirt that it uses.
      extraVars: { stackloom_services: definition.steps.map(({ name }) => name).toReversed() },
      files: { sshSecret: spec.sshKeySecretName ?? '', inventory: inventorySource },
      // Tags select tasks of a deployment: here all tasks run.
      runner: {
        ...runner,
        ansibleTags: '',
        ansibleSkipTags: '',
        networkAttachments: spec.networkAttachments ?? [],
      },
      ...(spec.dnsConfig && { dnsConfig: spec.dnsConfig }),
    },
    signal,
  )
}
