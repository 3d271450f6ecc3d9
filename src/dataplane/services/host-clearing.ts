/**
 * The run that takes a service off its host, by the same rules as any other run: one at a time on a host, repeated when it
 * fails, not after it succeeded.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import type { ReconcileContext } from '../../kube/controller.ts'
import { hostNotCleared } from '../findings/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { recordRunStarted } from '../nodes/node-controller.ts'
import { type Attempt, findAttempt, resolveApplied } from '../runs/attempts.ts'
import { decideStep, type RunDecision } from '../runs/decide-step.ts'
import { hashInputs } from '../runs/hash.ts'
import { DECOMMISSION_PLAYBOOK } from '../runs/playbooks.ts'
import { buildRun } from '../runs/run-object.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import type { World } from '../world.ts'
import { gatherServiceState, type ServiceState } from './service-state.ts'
import { serviceRuns } from './service-steps.ts'

/** Why the host is not clear yet. */
export interface Clearing {
  readonly why: string
  /** What a person has to do; absent where it goes on by itself. */
  readonly finding?: Finding
  readonly retryAfterMs?: number
}

/** Undefined when nothing of the service is left on its host. */
export async function clearHost(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  override: string,
  { signal, clock }: ReconcileContext,
): Promise<Clearing | undefined> {
  const { namespace = '', name, uid } = service.metadata
  const host = service.spec.dataplaneNodeName ?? name
  const gathered = gatherServiceState(world, definition, service, clock.now())
  const step = `${definition.name}-${DECOMMISSION_PLAYBOOK}`
  const hash = hashInputs({ step, uid, request: gathered.nodeView?.runRequest })
  const runs = serviceRuns(world, definition, namespace, host)
  const gate = blockReason(gathered)
  const decision = decideStep({
    desiredHash: hash,
    applied: resolveApplied(undefined, [step], host, runs)[step],
    attempts: runs.flatMap((run): Attempt | readonly Attempt[] => findAttempt(run, host, step) ?? []),
    heldReason: undefined,
    policy: 'auto',
    request: gathered.nodeView?.runRequest,
    blockedBy: gate,
    activeRun: world.runs.activeRun(namespace, host),
    retry: world.retry,
    now: clock.now(),
  })
  if (decision.kind === 'done') return undefined
  if (decision.kind === 'start') {
    await startClearing(world, definition, service, { gathered, step, hash, host, attempt: decision.attempt }, signal)
  }
  return describeClearing(decision, { definition, host, override, gate })
}

/** Without an inventory and a key nobody gets to the host. */
function blockReason({ nodeView, inventory, conditions }: ServiceState): string | undefined {
  if (!nodeView) return 'its OpenStackDataPlaneNode is gone'
  if (inventory) return nodeView.problems[0]?.message
  return conditions.find(({ status }) => status !== 'True')?.message ?? 'its inventory is gone'
}

function describeClearing(
  decision: RunDecision,
  {
    definition,
    host,
    override,
    gate,
  }: {
    readonly definition: ServiceDefinition
    readonly host: string
    readonly override: string
    readonly gate: string | undefined
  },
): Clearing {
  const { kind } = definition.annotation.kind
  const wrong = (why: string): Clearing => ({
    why,
    finding: finding(hostNotCleared, { kind, node: host, why, override }),
  })
  switch (decision.kind) {
    case 'wait':
      // Another run on the host ends by itself; a host that nobody gets to does not.
      return gate === undefined ? { why: decision.why } : wrong(gate)
    case 'pause':
      return { ...wrong(decision.attempt.why ?? 'it failed'), retryAfterMs: decision.ms }
    case 'backed-off':
      return wrong(decision.attempt.why ?? 'it failed')
    default:
      return { why: `it ends on ${host}` }
  }
}

interface ClearingAttempt {
  readonly gathered: ServiceState
  readonly step: string
  readonly hash: string
  readonly host: string
  readonly attempt: number
}

async function startClearing(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  { gathered, step, hash, host, attempt }: ClearingAttempt,
  signal: AbortSignal,
): Promise<void> {
  const { inventory, nodeView } = gathered
  if (!inventory || !nodeView) return
  const { text: _, ...source } = inventory
  const { sshSecret: __, ...runner } = nodeView.effective.runner
  const { spec } = service
  const run = buildRun({
    owner: service,
    step,
    label: step,
    hosts: { [host]: hash },
    previousRuns: { [host]: '' },
    attempt,
    request: nodeView.runRequest,
    playbook: {
      play: await world.playbook(DECOMMISSION_PLAYBOOK),
      ...(spec.ansibleEEContainerImage && { image: spec.ansibleEEContainerImage }),
      // The last that came goes first: nova-compute before the libvirt that it uses.
      extraVars: { stackloom_services: definition.steps.map((step) => step.name).toReversed() },
    },
    files: { sshSecret: spec.sshKeySecretName ?? '', inventory: source },
    // Tags choose among the tasks of a deployment: here all are meant.
    runner: {
      ...runner,
      ansibleTags: '',
      ansibleSkipTags: '',
      networkAttachments: spec.networkAttachments ?? [],
    },
    ...(spec.dnsConfig && { dnsConfig: spec.dnsConfig }),
  })
  if (await world.runs.start(run, signal)) recordRunStarted(world, service, run.metadata.name, step)
}
