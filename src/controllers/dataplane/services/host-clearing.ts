/**
 * The run that takes a service off its host, by the same rules as any other run: one at a time on a host, repeated when it
 * fails, not after it succeeded.
 */
import type { ServiceObject } from '../../../api/service-cr.ts'
import { hostNotLeft } from '../../../errors/dataplane.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import type { ReconcileContext } from '../../../kube/controller.ts'
import type { ServiceDefinition } from '../../../node-services/definition.ts'
import { type Attempt, appliedOf, attemptOf } from '../attempts.ts'
import { type Decision, decide } from '../decide.ts'
import { hashOf } from '../hash.ts'
import { tellStart } from '../nodes/node-controller.ts'
import { LEAVING } from '../playbooks.ts'
import { runObject } from '../run-object.ts'
import type { World } from '../world.ts'
import { type Gathered, gather } from './gather.ts'
import { runsOf } from './steps.ts'

/** Why the host is not clear yet. */
export interface Clearing {
  readonly why: string
  /** What a person has to do; absent where it goes on by itself. */
  readonly finding?: Finding
  readonly again?: number
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
  const gathered = gather(world, definition, service, clock.now())
  const step = `${definition.name}-${LEAVING}`
  const hash = hashOf({ step, uid, request: gathered.node?.request })
  const runs = runsOf(world, definition, namespace, host)
  const gate = gateOf(gathered)
  const decision = decide({
    wanted: hash,
    applied: appliedOf(undefined, [step], host, runs)[step],
    attempts: runs.flatMap((run): Attempt | readonly Attempt[] => attemptOf(run, host, step) ?? []),
    heldBy: undefined,
    policy: 'auto',
    request: gathered.node?.request,
    gate,
    busyWith: world.runs.touching(namespace, host),
    retry: world.retry,
    now: clock.now(),
  })
  if (decision.kind === 'done') return undefined
  if (decision.kind === 'start') {
    await start(world, definition, service, { gathered, step, hash, host, attempt: decision.attempt }, signal)
  }
  return clearingOf(decision, { definition, host, override, gate })
}

/** Without an inventory and a key nobody gets to the host. */
function gateOf({ node, inventory, told }: Gathered): string | undefined {
  if (!node) return 'its OpenStackDataPlaneNode is gone'
  if (inventory) return node.problems[0]?.message
  return told.find(({ status }) => status !== 'True')?.message ?? 'its inventory is gone'
}

function clearingOf(
  decision: Decision,
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
    finding: finding(hostNotLeft, { kind, node: host, why, override }),
  })
  switch (decision.kind) {
    case 'wait':
      // Another run on the host ends by itself; a host that nobody gets to does not.
      return gate === undefined ? { why: decision.why } : wrong(gate)
    case 'pause':
      return { ...wrong(decision.attempt.why ?? 'it failed'), again: decision.ms }
    case 'backed-off':
      return wrong(decision.attempt.why ?? 'it failed')
    default:
      return { why: `it ends on ${host}` }
  }
}

interface Attempted {
  readonly gathered: Gathered
  readonly step: string
  readonly hash: string
  readonly host: string
  readonly attempt: number
}

async function start(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  { gathered, step, hash, host, attempt }: Attempted,
  signal: AbortSignal,
): Promise<void> {
  const { inventory, node } = gathered
  if (!inventory || !node) return
  const { text: _, ...source } = inventory
  const { sshSecret: __, ...runner } = node.effective.runner
  const { spec } = service
  const run = runObject({
    owner: service,
    step,
    label: step,
    hosts: { [host]: hash },
    after: { [host]: '' },
    attempt,
    request: node.request,
    playbook: {
      play: await world.playbook(LEAVING),
      ...(spec.ansibleEEContainerImage && { image: spec.ansibleEEContainerImage }),
      // The last that came goes first: nova-compute before the libvirt that it uses.
      extraVars: { stackloom_services: definition.steps.map((one) => one.name).toReversed() },
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
  if (await world.runs.start(run, signal)) tellStart(world, service, run.metadata.name, step)
}
