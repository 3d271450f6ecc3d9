/**
 * A node as the controllers see it: what holds for it, what is wrong with it, and how far phase 0 has come.
 *
 * Gathers from the caches and lets pure functions decide. The same view for the node's own look, for its role's, and for
 * its services', so that they never disagree.
 */

import type { DnsData } from '../../api/dnsdata.ts'
import type { IpSet } from '../../api/ipset.ts'
import { selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { roleMissing, sshKeyMissing } from '../findings/data-plane.ts'
import { hasEnded } from '../kinds/ansible-run.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import { byConsumer, type MachineState, resolveMachine } from '../machines/bare-metal.ts'
import type { EffectiveNode } from '../rules/inheritance.ts'
import { effectiveAnnotation } from '../rules/inheritance.ts'
import { isPhaseZeroRun, RUN_REQUEST_ANNOTATION, runHosts } from '../runs/attempts.ts'
import type { RunPolicy } from '../runs/decide-step.ts'
import { SSH_KEY_FIELD } from '../runs/run-object.ts'
import type { World } from '../world.ts'
import type { HostVars } from './inventory.ts'
import { desiredDnsData, dnsDataName, dnsDataState } from './node-dns.ts'
import { type AddressRequest, addressesState, buildAddressRequest, type ProvisionState } from './node-ipset.ts'
import { evaluatePhaseZero, type PhaseZeroState } from './phase-zero.ts'

/** `manual`: after the first deployment changed inputs wait for a run request. On a role or a node. */
const RUN_POLICY = 'stackloom.dev/run-policy'

export interface NodeView {
  readonly node: DataPlaneNode
  readonly role: DataPlaneRole | undefined
  readonly effective: EffectiveNode
  readonly addresses: HostVars
  /** The hash of what stands in the Secrets and ConfigMaps that its runs are given. */
  readonly mountedHash: string | undefined
  /** What a person has to correct before anything can be done. */
  readonly problems: readonly Finding[]
  readonly addressRequest: AddressRequest
  /** The IPSet of its host, whoever made it. */
  readonly ipSet: IpSet | undefined
  readonly dnsData: DnsData | undefined
  readonly addressState: ProvisionState
  readonly dnsState: ProvisionState
  readonly machine: MachineState
  readonly policy: RunPolicy
  readonly runRequest: string | undefined
  readonly phaseZero: PhaseZeroState
  /** The run of its role that others are in, while this node waits for the next. */
  readonly waitsForRun: string | undefined
}

export function buildNodeView(world: World, node: DataPlaneNode, now: number): NodeView {
  const { namespace = '', name } = node.metadata
  const role = node.spec.role ? world.roles.get(objectKey({ namespace, name: node.spec.role })) : undefined
  const { effective, problems: wrong } = world.derived(node, role)
  const addresses = world.addressesOf(node)
  const provided = resolveNetwork(world, node, effective)
  const problems = [...wrong, ...findMissing(world, node, role, effective), ...requestFindings(provided.addressRequest)]
  const machine = resolveMachine(role, () => world.machines?.byIndex(byConsumer, objectKey(node.metadata))[0])
  const request = effectiveAnnotation(node, role, RUN_REQUEST_ANNOTATION)
  const mounted = world.mounted(namespace, effective)
  const policy = effectiveAnnotation(node, role, RUN_POLICY) === 'manual' ? 'manual' : 'auto'
  const phaseZero = evaluatePhaseZero({
    effective,
    steps: effective.services.map((service) => world.step(namespace, service)),
    hashInputs: (step) => world.inputs(effective, addresses, step, request, mounted),
    recorded: node.status?.applied,
    runs: world.runs.forHost(namespace, name).filter(isPhaseZeroRun),
    blockedBy: problems[0]?.message ?? firstAwaited(provided.addressState, provided.dnsState, machine),
    activeRun: world.runs.activeRun(namespace, name),
    policy,
    request,
    retry: world.retry,
    now,
  })
  return {
    node,
    role,
    effective,
    addresses,
    mountedHash: mounted,
    problems,
    ...provided,
    machine,
    policy,
    runRequest: request,
    phaseZero,
    waitsForRun:
      role && effective.deployedBy === 'role' && phaseZero.next ? roleRunWithout(world, role, name) : undefined,
  }
}

/** A role makes one run at a time: those who are not in it wait, and nothing runs on them. */
function roleRunWithout(world: World, role: DataPlaneRole, name: string): string | undefined {
  return world.runs.forOwner(role.metadata.uid ?? '').find((run) => !hasEnded(run) && !runHosts(run).has(name))
    ?.metadata.name
}

type NodeNetwork = Pick<NodeView, 'addressRequest' | 'ipSet' | 'dnsData' | 'addressState' | 'dnsState'>

/** Most nodes have none of it: their namespace has neither managed addresses nor served names. */
const NO_NETWORK: NodeNetwork = {
  addressRequest: { kind: 'none' },
  ipSet: undefined,
  dnsData: undefined,
  addressState: { kind: 'not-needed' },
  dnsState: { kind: 'not-needed' },
}

function resolveNetwork(world: World, node: DataPlaneNode, effective: EffectiveNode): NodeNetwork {
  const { namespace = '', name } = node.metadata
  const ipSet = world.ipSetOf(node)
  const netConfig = selectNetConfig(world.netConfigs?.list(namespace) ?? [])
  if (!ipSet && !netConfig) return NO_NETWORK
  const wish = buildAddressRequest(node, effective, netConfig)
  const servers = world.dnsMasqs?.list(namespace) ?? []
  const names = desiredDnsData(node, ipSet, servers)
  const there = names && world.dnsDatas?.get(objectKey({ namespace, name: dnsDataName(name) }))
  return {
    addressRequest: wish,
    ipSet,
    dnsData: names,
    addressState: addressesState(node, wish, ipSet),
    dnsState: world.dnsDatas ? dnsDataState(names, there, servers) : { kind: 'not-needed' },
  }
}

function requestFindings(wish: AddressRequest): readonly Finding[] {
  return wish.kind === 'wrong' ? [wish.finding] : []
}

/** What has to come before phase 0, the first of it in words. */
function firstAwaited(...all: readonly (ProvisionState | MachineState)[]): string | undefined {
  const [first] = all.flatMap((one) => (one.kind === 'awaited' ? [one.why] : []))
  return first
}

function findMissing(
  world: World,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  { runner }: EffectiveNode,
): readonly Finding[] {
  const { namespace = '' } = node.metadata
  if (node.spec.role && !role) return [finding(roleMissing, { role: node.spec.role, namespace })]
  return checkSshKey(world, namespace, runner.sshSecret)
}

export function checkSshKey(world: World, namespace: string, secret: string): readonly Finding[] {
  if (secret === '') return [finding(sshKeyMissing, { secret, why: 'unnamed' })]
  const found = world.secrets.get(objectKey({ namespace, name: secret }))
  if (!found) return [finding(sshKeyMissing, { secret, why: 'absent' })]
  return found.data?.[SSH_KEY_FIELD] ? [] : [finding(sshKeyMissing, { secret, why: 'no-key' })]
}
