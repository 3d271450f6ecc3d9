/**
 * Builds the view of a node that its own controller, its role's and its services' share, so that they never disagree:
 * its settings, what is wrong with it, and the state of phase 0.
 *
 * Gathers from the caches and lets pure functions decide.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { IpSet } from '../../api/ipset.ts'
import { selectNetConfig } from '../../api/netconfig.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { type FindContent, withContents } from '../../controllers/kit/contents.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { DataPlaneCaches, Secret } from '../caches.ts'
import { roleMissing, sshKeyMissing } from '../findings/data-plane.ts'
import { hasEnded } from '../kinds/ansible-run.ts'
import type { DataPlaneNode, DataPlaneRole } from '../kinds/data-plane.ts'
import {
  type BareMetalHost,
  byConsumer,
  type MachineState,
  mayUseMachines,
  resolveMachine,
} from '../machines/bare-metal.ts'
import { type EffectiveNode, effectiveAnnotation } from '../rules/inheritance.ts'
import { isPhaseZeroRun, isSince, RUN_REQUEST_ANNOTATION, runHosts } from '../runs/attempts.ts'
import type { RunPolicy, RunRetry } from '../runs/decide-step.ts'
import { hashMountedSources } from '../runs/input-hash.ts'
import type { RunIndex } from '../runs/run-index.ts'
import { SSH_KEY_FIELD } from '../runs/run-object.ts'
import { addressVars } from './address-vars.ts'
import type { HostVars } from './inventory.ts'
import { desiredDnsData, dnsDataName, dnsDataState, nameservers } from './node-dns.ts'
import { type AddressRequest, addressesState, buildAddressRequest, type ProvisionState } from './node-ipset.ts'
import { createNodeSettingsCache, type NodeSettingsCache } from './node-settings.ts'
import { evaluatePhaseZero, type PhaseZeroState } from './phase-zero.ts'

/** `manual`: after the first deployment changed inputs wait for a run request. On a role or a node. */
const RUN_POLICY_ANNOTATION = 'stackloom.dev/run-policy'

export interface NodeView {
  readonly node: DataPlaneNode
  readonly role: DataPlaneRole | undefined
  readonly effective: EffectiveNode
  readonly addresses: HostVars
  /** The hash of the Secrets and ConfigMaps that its runs mount. */
  readonly mountedHash: string | undefined
  /** What a person has to correct before anything runs. */
  readonly problems: readonly Finding[]
  readonly addressRequest: AddressRequest
  /** The IPSet of its host, created by this controller or not. */
  readonly ipSet: IpSet | undefined
  readonly dnsData: DnsData | undefined
  readonly addressState: ProvisionState
  readonly dnsState: ProvisionState
  readonly machine: MachineState
  readonly policy: RunPolicy
  readonly runRequest: string | undefined
  readonly phaseZero: PhaseZeroState
  /** A run of its role with other nodes, after which this node gets the next one. */
  readonly waitsForRun: string | undefined
}

export interface NodeViewDeps {
  readonly caches: Omit<DataPlaneCaches, 'dataPlanes' | 'nodes' | 'serviceObjects' | 'ofKind'>
  readonly runs: Pick<RunIndex, 'forHost' | 'forOwner' | 'activeRun'>
  readonly retry: RunRetry
}

export interface NodeViews {
  /** Reads the Secrets and ConfigMaps of the node where they changed. */
  readonly view: (node: DataPlaneNode, now: number, signal: AbortSignal) => Promise<NodeView>
  readonly settings: NodeSettingsCache['settings']
  readonly forget: NodeSettingsCache['forget']
}

export function createNodeViews(deps: NodeViewDeps): NodeViews {
  const settings = createNodeSettingsCache(deps.caches.dataPlaneServices)
  return {
    view: (node, now, signal) => withContents((find) => buildNodeView(deps, settings, { node, now, find }), signal),
    settings: settings.settings,
    forget: settings.forget,
  }
}

/** A machine elsewhere may name any node as its consumer. */
function findClaimed(
  { machines, machineNamespaces }: NodeViewDeps['caches'],
  node: DataPlaneNode,
): BareMetalHost | undefined {
  return machines
    ?.byIndex(byConsumer, objectKey(node.metadata))
    .find(({ metadata }) => mayUseMachines(node, metadata.namespace ?? '', machineNamespaces))
}

interface NodeViewInputs {
  readonly node: DataPlaneNode
  readonly now: number
  readonly find: FindContent
}

function buildNodeView(deps: NodeViewDeps, cache: NodeSettingsCache, { node, now, find }: NodeViewInputs): NodeView {
  const { caches, runs, retry } = deps
  const { namespace = '', name } = node.metadata
  const role = node.spec.role ? caches.roles.get(objectKey({ namespace, name: node.spec.role })) : undefined
  const settings = cache.settings(node, role)
  const { effective } = settings
  const network = resolveNetwork(caches, node, effective)
  const { addresses, addressRequest, addressState, dnsState } = network
  const problems = [
    ...settings.problems,
    ...findMissing((key) => find(caches.secrets, key), node, role, effective),
    ...(addressRequest.kind === 'invalid' ? [addressRequest.finding] : []),
  ]
  const machine = resolveMachine(role, () => findClaimed(caches, node))
  const runRequest = effectiveAnnotation(node, role, RUN_REQUEST_ANNOTATION)
  const mountedHash = hashMountedSources(effective.runner, (source) =>
    find<KubeObject>(
      source.kind === 'Secret' ? caches.secrets : caches.configMaps,
      objectKey({ namespace, name: source.name }),
    ),
  )
  const policy = effectiveAnnotation(node, role, RUN_POLICY_ANNOTATION) === 'manual' ? 'manual' : 'auto'
  const phaseZero = evaluatePhaseZero({
    effective,
    steps: effective.services.map((service) => cache.step(namespace, service)),
    hashInputs: (step) => cache.stepHash(effective, step, { addresses, request: runRequest, mounted: mountedHash }),
    recorded: node.status?.applied,
    runs: runs.forHost(namespace, name).filter((run) => isPhaseZeroRun(run) && isSince(run, node)),
    blockedBy: problems[0]?.message ?? firstAwaited(addressState, dnsState, machine),
    activeRun: runs.activeRun(namespace, name),
    policy,
    request: runRequest,
    retry,
    now,
  })
  const isNextInRole = role && effective.deployedBy === 'role' && phaseZero.next
  return {
    node,
    role,
    effective,
    mountedHash,
    problems,
    ...network,
    machine,
    policy,
    runRequest,
    phaseZero,
    waitsForRun: isNextInRole ? roleRunWithout(runs, role, name) : undefined,
  }
}

/** A role has one run at a time: nodes that are not in it wait. */
function roleRunWithout(runs: NodeViewDeps['runs'], role: DataPlaneRole, name: string): string | undefined {
  const active = runs.forOwner(role.metadata.uid ?? '').filter((run) => !hasEnded(run))
  return active.find((run) => !runHosts(run).has(name))?.metadata.name
}

type NodeNetwork = Pick<NodeView, 'addresses' | 'addressRequest' | 'ipSet' | 'dnsData' | 'addressState' | 'dnsState'>

/** For the many nodes in namespaces that have neither managed addresses nor served names. */
const NO_NETWORK: NodeNetwork = {
  addresses: addressVars(undefined),
  addressRequest: { kind: 'none' },
  ipSet: undefined,
  dnsData: undefined,
  addressState: { kind: 'not-needed' },
  dnsState: { kind: 'not-needed' },
}

function resolveNetwork(
  { ipSets, netConfigs, dnsMasqs, dnsDatas }: NodeViewDeps['caches'],
  node: DataPlaneNode,
  effective: EffectiveNode,
): NodeNetwork {
  const { namespace = '', name } = node.metadata
  const findIpSet = (host: string): IpSet | undefined => ipSets?.get(objectKey({ namespace, name: host }))
  const ipSet = findIpSet(node.spec.hostName || name) ?? findIpSet(name)
  const netConfig = selectNetConfig(netConfigs?.list(namespace) ?? [])
  if (!ipSet && !netConfig) return NO_NETWORK
  const addressRequest = buildAddressRequest(node, effective, netConfig)
  const servers = dnsMasqs?.list(namespace) ?? []
  const dnsData = desiredDnsData(node, ipSet, servers)
  const liveDnsData = dnsData && dnsDatas?.get(objectKey({ namespace, name: dnsDataName(name) }))
  return {
    addresses: addressVars(ipSet, ipSet && nameservers(servers)),
    addressRequest,
    ipSet,
    dnsData,
    addressState: addressesState(node, addressRequest, ipSet),
    dnsState: dnsDatas ? dnsDataState(dnsData, liveDnsData, servers) : { kind: 'not-needed' },
  }
}

function firstAwaited(...states: readonly (ProvisionState | MachineState)[]): string | undefined {
  const [first] = states.flatMap((state) => (state.kind === 'awaited' ? [state.why] : []))
  return first
}

function findMissing(
  findSecret: FindSecret,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  { runner }: EffectiveNode,
): readonly Finding[] {
  const { namespace = '' } = node.metadata
  if (node.spec.role && !role) return [finding(roleMissing, { role: node.spec.role, namespace })]
  return checkSshKey(findSecret, namespace, runner.sshSecret)
}

type FindSecret = (key: string) => Secret | undefined

export function checkSshKey(findSecret: FindSecret, namespace: string, secret: string): readonly Finding[] {
  if (secret === '') return [finding(sshKeyMissing, { secret, why: 'unnamed' })]
  const found = findSecret(objectKey({ namespace, name: secret }))
  if (!found) return [finding(sshKeyMissing, { secret, why: 'absent' })]
  return found.data?.[SSH_KEY_FIELD] ? [] : [finding(sshKeyMissing, { secret, why: 'no-key' })]
}
