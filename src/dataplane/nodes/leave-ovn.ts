/**
 * Undoes what phase 0 made of a host in its cloud: takes it out of OVN by a run, then its agents out of Neutron.
 *
 * The host comes first: an ovn-controller that still runs would register its chassis again. A host that never joined OVN,
 * or that joined it by a role of the user, is left alone.
 */
import { asRecord } from '../../api/json.ts'
import { formatError } from '../../errors/failure.ts'
import type { ReconcileContext } from '../../kube/controller.ts'
import { dataPlaneNodes } from '../kinds/data-plane.ts'
import { findAttempts, isPhaseZeroRun, resolveApplied } from '../runs/attempts.ts'
import { type Clearing, clearingFailed, describeClearing, FORCE_ANNOTATION } from '../runs/clearing.ts'
import { decideStep, type RunRetry } from '../runs/decide-step.ts'
import { hashInputs } from '../runs/input-hash.ts'
import { LEAVE_OVN_PLAYBOOK } from '../runs/playbooks.ts'
import type { RunIndex } from '../runs/run-index.ts'
import type { ControlPlane } from '../services/nova-control-plane.ts'
import { nodeInventoryName } from './inventory.ts'
import type { NodeView } from './node-view.ts'

/** The step of phase 0 that starts ovn-controller. */
const JOINING_STEP = 'run-os'
const RECHECK_MS = 30_000

export interface LeaveOvnDeps {
  readonly runs: Pick<RunIndex, 'forHost' | 'activeRun' | 'start'>
  readonly retry: RunRetry
  /** Undefined where no cloud of this cluster has Nova. */
  readonly controlPlane: Pick<ControlPlane, 'removeAgents'> | undefined
}

/** Undefined when nothing of the host is left in OVN and Neutron. */
export async function leaveOvn(
  deps: LeaveOvnDeps,
  view: NodeView,
  { signal, clock }: ReconcileContext,
): Promise<Clearing | undefined> {
  const { node, effective, machine } = view
  const { namespace = '', name, annotations = {} } = node.metadata
  if (annotations[FORCE_ANNOTATION] === 'true' || !mayBeInOvn(deps, view)) return undefined
  // A machine that is given back is erased.
  const clearing = machine.kind === 'not-needed' ? await clearHost(deps, view, clock.now(), signal) : undefined
  if (clearing) return clearing
  const [host = name] = effective.hostName.split('.')
  try {
    await deps.controlPlane?.removeAgents({ namespace, host }, signal)
    return undefined
  } catch (error) {
    if (signal.aborted) throw error
    const facts = { kind: dataPlaneNodes.kind, host: name }
    return { ...clearingFailed(facts, formatError(error)), retryAfterMs: RECHECK_MS }
  }
}

/** A failed or active run may have started ovn-controller. */
function mayBeInOvn({ runs }: LeaveOvnDeps, { node, effective, phaseZero }: NodeView): boolean {
  const { stackloom_ovn_remote: remote, edpm_ovn_dbs: databases, stackloom_roles: roles } = effective.vars
  const isNamed = Boolean(remote) || (Array.isArray(databases) && databases.length > 0)
  const isOurs =
    asRecord(roles)[JOINING_STEP] === undefined &&
    phaseZero.steps.some(({ step }) => step.kind === 'runnable' && step.playbook === JOINING_STEP)
  if (!isNamed || !isOurs) return false
  const { namespace = '', name } = node.metadata
  const attempts = findAttempts(runs.forHost(namespace, name).filter(isPhaseZeroRun), name, JOINING_STEP)
  return phaseZero.applied[JOINING_STEP] !== undefined || attempts.length > 0
}

/** By the rules of every other run: one at a time on a host, retried when it fails, not after it succeeded. */
async function clearHost(
  { runs, retry }: LeaveOvnDeps,
  { node, effective, runRequest, problems }: NodeView,
  now: number,
  signal: AbortSignal,
): Promise<Clearing | undefined> {
  const { namespace = '', name, uid } = node.metadata
  const step = LEAVE_OVN_PLAYBOOK
  const hash = hashInputs({ step, uid, request: runRequest })
  const ownRuns = runs.forHost(namespace, name).filter(isPhaseZeroRun)
  const facts = { kind: dataPlaneNodes.kind, host: name, blockedBy: problems[0]?.message }
  const decision = decideStep({
    desiredHash: hash,
    applied: resolveApplied(undefined, [step], name, ownRuns)[step],
    attempts: findAttempts(ownRuns, name, step),
    heldReason: undefined,
    policy: 'auto',
    request: runRequest,
    blockedBy: facts.blockedBy,
    activeRun: runs.activeRun(namespace, name),
    retry,
    now,
  })
  if (decision.kind === 'done') return undefined
  if (decision.kind === 'start') {
    const { sshSecret, ...runner } = effective.runner
    const refused = await runs.start(
      {
        owner: node,
        step,
        label: step,
        hosts: { [name]: hash },
        previousRuns: { [name]: '' },
        attempt: decision.attempt,
        request: runRequest,
        playbook: LEAVE_OVN_PLAYBOOK,
        files: { sshSecret, inventory: { kind: 'Secret', name: nodeInventoryName(name), hasTemplate: false } },
        // Tags select tasks of a deployment: here all tasks run.
        runner: { ...runner, ansibleTags: '', ansibleSkipTags: '' },
      },
      signal,
    )
    if (refused) return { why: refused.message, finding: refused }
  }
  return describeClearing(decision, facts)
}
