/**
 * A node as the controllers see it: what holds for it, what is wrong with it, and how far phase 0 has come.
 *
 * Gathers from the caches and lets pure functions decide. The same view for the node's own look, for its role's, and for
 * its services', so that they never disagree.
 */

import { hasEnded } from '../../../api/ansibleee.ts'
import type { Effective } from '../../../api/dataplane-inheritance.ts'
import { effectiveAnnotation } from '../../../api/dataplane-inheritance.ts'
import type { DataPlaneNode } from '../../../api/dataplane-node.ts'
import type { DataPlaneRole } from '../../../api/dataplane-role.ts'
import type { DnsData } from '../../../api/dnsdata.ts'
import type { IpSet } from '../../../api/ipset.ts'
import { theNetConfig } from '../../../api/netconfig.ts'
import { keyOf } from '../../../api/object.ts'
import { roleMissing, sshKeyMissing } from '../../../errors/dataplane.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import { hostsIn, isOfPhaseZero, RUN_REQUEST } from '../attempts.ts'
import type { RunPolicy } from '../decide.ts'
import type { HostVars } from '../inventory.ts'
import { byConsumer, type Machine, machineOf } from '../machines/bare-metal.ts'
import { SSH_KEY } from '../run-object.ts'
import type { World } from '../world.ts'
import { namesOf, namesProvided, wantedNames } from './host-names.ts'
import { type AddressWish, addressesProvided, addressWish, type Provision } from './host-network.ts'
import { type HostStanding, hostStanding } from './phase-zero.ts'

/** `manual`: after the first deployment changed inputs wait for a run request. On a role or a node. */
const RUN_POLICY = 'stackloom.dev/run-policy'

export interface NodeView {
  readonly node: DataPlaneNode
  readonly role: DataPlaneRole | undefined
  readonly effective: Effective
  readonly addresses: HostVars
  /** The hash of what stands in the Secrets and ConfigMaps that its runs are given. */
  readonly mounted: string | undefined
  /** What a person has to correct before anything can be done. */
  readonly problems: readonly Finding[]
  readonly wish: AddressWish
  /** The IPSet of its host, whoever made it. */
  readonly ipSet: IpSet | undefined
  readonly wantedNames: DnsData | undefined
  readonly network: Provision
  readonly names: Provision
  readonly machine: Machine
  readonly policy: RunPolicy
  readonly request: string | undefined
  readonly phaseZero: HostStanding
  /** The run of its role that others are in, while this node waits for the next. */
  readonly behind: string | undefined
}

export function viewOf(world: World, node: DataPlaneNode, now: number): NodeView {
  const { namespace = '', name } = node.metadata
  const role = node.spec.role ? world.roles.get(keyOf({ namespace, name: node.spec.role })) : undefined
  const { effective, problems: wrong } = world.derived(node, role)
  const addresses = world.addressesOf(node)
  const provided = providedFor(world, node, effective)
  const problems = [...wrong, ...missingParts(world, node, role, effective), ...wrongIn(provided.wish)]
  const machine = machineOf(role, () => world.machines?.by(byConsumer, keyOf(node.metadata))[0])
  const request = effectiveAnnotation(node, role, RUN_REQUEST)
  const mounted = world.mounted(namespace, effective)
  const policy = effectiveAnnotation(node, role, RUN_POLICY) === 'manual' ? 'manual' : 'auto'
  const phaseZero = hostStanding({
    effective,
    steps: effective.services.map((service) => world.step(namespace, service)),
    inputsOf: (step) => world.inputs(effective, addresses, step, request, mounted),
    recorded: node.status?.applied,
    runs: world.runs.ofHost(namespace, name).filter(isOfPhaseZero),
    gate: problems[0]?.message ?? awaited(provided.network, provided.names, machine),
    busyWith: world.runs.touching(namespace, name),
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
    mounted,
    problems,
    ...provided,
    machine,
    policy,
    request,
    phaseZero,
    behind:
      role && effective.deployedBy === 'role' && phaseZero.next ? othersIn(world, role, name) : undefined,
  }
}

/** A role makes one run at a time: those who are not in it wait, and nothing runs on them. */
function othersIn(world: World, role: DataPlaneRole, name: string): string | undefined {
  return world.runs.ofOwner(role.metadata.uid ?? '').find((run) => !hasEnded(run) && !hostsIn(run).has(name))
    ?.metadata.name
}

type Provided = Pick<NodeView, 'wish' | 'ipSet' | 'wantedNames' | 'network' | 'names'>

/** Most nodes have none of it: their namespace has neither managed addresses nor served names. */
const NOTHING: Provided = {
  wish: { kind: 'none' },
  ipSet: undefined,
  wantedNames: undefined,
  network: { kind: 'not-needed' },
  names: { kind: 'not-needed' },
}

function providedFor(world: World, node: DataPlaneNode, effective: Effective): Provided {
  const { namespace = '', name } = node.metadata
  const ipSet = world.ipSetOf(node)
  const netConfig = theNetConfig(world.netConfigs?.list(namespace) ?? [])
  if (!ipSet && !netConfig) return NOTHING
  const wish = addressWish(node, effective, netConfig)
  const servers = world.dnsMasqs?.list(namespace) ?? []
  const names = wantedNames(node, ipSet, servers)
  const there = names && world.dnsDatas?.get(keyOf({ namespace, name: namesOf(name) }))
  return {
    wish,
    ipSet,
    wantedNames: names,
    network: addressesProvided(node, wish, ipSet),
    names: world.dnsDatas ? namesProvided(names, there, servers) : { kind: 'not-needed' },
  }
}

function wrongIn(wish: AddressWish): readonly Finding[] {
  return wish.kind === 'wrong' ? [wish.finding] : []
}

/** What has to come before phase 0, the first of it in words. */
function awaited(...all: readonly (Provision | Machine)[]): string | undefined {
  const [first] = all.flatMap((one) => (one.kind === 'awaited' ? [one.why] : []))
  return first
}

function missingParts(
  world: World,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  { runner }: Effective,
): readonly Finding[] {
  const { namespace = '' } = node.metadata
  if (node.spec.role && !role) return [finding(roleMissing, { role: node.spec.role, namespace })]
  return keyProblem(world, namespace, runner.sshSecret)
}

export function keyProblem(world: World, namespace: string, secret: string): readonly Finding[] {
  if (secret === '') return [finding(sshKeyMissing, { secret, why: 'unnamed' })]
  const found = world.secrets.get(keyOf({ namespace, name: secret }))
  if (!found) return [finding(sshKeyMissing, { secret, why: 'absent' })]
  return found.data?.[SSH_KEY] ? [] : [finding(sshKeyMissing, { secret, why: 'no-key' })]
}
