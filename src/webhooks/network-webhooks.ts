/**
 * Serves the webhooks of NetConfig, IPSet and Reservation: what they refuse, warn of and default.
 *
 * The cluster is read through NetworkView, which the caller provides.
 */

import { groupBy } from '../api/collections.ts'
import {
  createFixedIpCheck,
  type IpSet,
  type IpSetSpec,
  ipSetChangeViolations,
  ipSetViolations,
  type Reservation,
} from '../api/ipset.ts'
import {
  createSubnetFinder,
  type NetConfig,
  type NetConfigNetwork,
  type NetConfigSpec,
  netConfigChangeViolations,
  netConfigViolations,
  networkGroup,
} from '../api/netconfig.ts'
import { judgeViolations, type Verdict } from '../api/violation.ts'
import type { AdmissionHandler, AdmissionRequest, AdmissionResponse, JsonPatchOperation } from '../kube/admission.ts'
import { parseAddress } from '../net/address.ts'
import { parseRange } from '../net/range.ts'
import { rangeSet, setContains } from '../net/range-set.ts'
import { allowed, buildAnswer, denied } from './admission-answer.ts'
import { type OtherAllocator, overlapWarnings } from './other-allocators.ts'
import { type Webhook, webhookPath } from './webhook-configuration.ts'

const netConfig = { ...networkGroup, plural: 'netconfigs', singular: 'netconfig' }
const ipSet = { ...networkGroup, plural: 'ipsets', singular: 'ipset' }
const reservation = { ...networkGroup, plural: 'reservations', singular: 'reservation' }

export const networkWebhooks: readonly Webhook[] = [
  { kind: 'mutate', ...netConfig, operations: ['CREATE', 'UPDATE'] },
  { kind: 'mutate', ...ipSet, operations: ['CREATE'] },
  { kind: 'validate', ...netConfig, operations: ['CREATE', 'UPDATE', 'DELETE'] },
  { kind: 'validate', ...ipSet, operations: ['CREATE', 'UPDATE'] },
  {
    kind: 'validate',
    ...reservation,
    operations: ['CREATE', 'UPDATE'],
    // Created manually or restored: what the controller writes for an IPSet needs no check.
    only: { name: 'by-hand', expression: '!has(object.metadata.ownerReferences)' },
  },
]

export interface NetworkView {
  /** From the cache: fast, and possibly behind. */
  readonly cachedNetConfigs: (namespace: string) => readonly NetConfig[]
  /** From the API server: asked before something is refused. */
  readonly netConfigs: (namespace: string, signal: AbortSignal) => Promise<readonly NetConfig[]>
  readonly ipSets: (namespace: string, signal: AbortSignal) => Promise<readonly IpSet[]>
  /** The IPSet that holds an address on the segment of a subnet, as `namespace/name`. */
  readonly findHolder: (netConfig: NetConfig, network: string, subnet: string, address: string) => string | undefined
  /** Other programs that assign addresses to workloads of this namespace; or why they could not be read. */
  readonly otherAllocators: (
    namespace: string,
    signal: AbortSignal,
  ) => Promise<readonly OtherAllocator[] | { readonly problem: string }>
  /** Whether the served NetConfig has the field serviceNetwork: its first version has not. */
  readonly hasServiceNetwork: () => Promise<boolean>
}

export function networkHandlers(
  view: NetworkView,
  finalizers: readonly string[],
): Readonly<Record<string, AdmissionHandler>> {
  return {
    [webhookPath({ kind: 'mutate', ...netConfig })]: defaultNetConfig(view),
    [webhookPath({ kind: 'validate', ...netConfig })]: validateNetConfig(view),
    [webhookPath({ kind: 'mutate', ...ipSet })]: defaultIpSet(finalizers),
    [webhookPath({ kind: 'validate', ...ipSet })]: validateIpSet(view),
    [webhookPath({ kind: 'validate', ...reservation })]: validateReservation,
  }
}

function validateNetConfig(view: Pick<NetworkView, 'netConfigs' | 'ipSets' | 'otherAllocators'>): AdmissionHandler {
  return async (request, { signal }) => {
    const namespace = request.namespace ?? ''
    if (request.operation === 'DELETE') {
      const { length } = await view.ipSets(namespace, signal)
      if (length === 0) return allowed
      return denied(`unable to delete NetConfig while there are still ${length} IPSets in the namespace`)
    }
    const { spec, metadata } = request.object as NetConfig
    if (request.operation === 'CREATE') {
      const netConfigs = await view.netConfigs(namespace, signal)
      const other = netConfigs.find(({ metadata: { name } }) => name !== request.name)
      if (other) {
        const { name } = other.metadata
        return denied(`there is already NetConfig ${name} in namespace ${namespace}, there can only be one`)
      }
      const warnings = await sharedRangeWarnings(view, namespace, spec, signal)
      return buildAnswer(request, judgeViolations(netConfigViolations(spec)), warnings)
    }
    // The deletion of an invalid object must be possible.
    if (metadata.deletionTimestamp) return allowed
    const { spec: old } = request.oldObject as NetConfig
    const users = await view.ipSets(namespace, signal)
    const verdict = judgeViolations(netConfigViolations(spec), netConfigViolations(old))
    const changes = users.length > 0 ? netConfigChangeViolations(spec, old) : []
    return buildAnswer(request, { ...verdict, refusals: [...verdict.refusals, ...changes] }, [
      ...uncoveredAddressWarnings(spec.networks, old.networks, users),
      ...(await sharedRangeWarnings(view, namespace, spec, signal)),
    ])
  }
}

/** Ranges that another program assigns from as well. A NetConfig may be written even when that cannot be checked. */
async function sharedRangeWarnings(
  view: Pick<NetworkView, 'otherAllocators'>,
  namespace: string,
  { networks }: NetConfigSpec,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const others = await view.otherAllocators(namespace, signal)
  return 'problem' in others
    ? [`overlaps with MetalLB and network attachments were not checked: ${others.problem}`]
    : overlapWarnings(networks, others)
}

const MAX_NAMED_ADDRESSES = 10

/** Addresses in use that were in a range before and are in none now: they stay assigned. */
function uncoveredAddressWarnings(
  networks: readonly NetConfigNetwork[],
  old: readonly NetConfigNetwork[],
  users: readonly IpSet[],
): readonly string[] {
  const key = (network: string, subnet: string): string => `${network}/${subnet}`
  const assigned = groupBy(
    users.flatMap(({ metadata, status }) =>
      (status?.reservations ?? []).map((entry) => ({ ...entry, ipSetName: metadata.name })),
    ),
    ({ network, subnet }) => key(network, subnet),
  )
  const oldSubnets = new Map(
    old.flatMap((network) => network.subnets.map((subnet) => [key(network.name, subnet.name), subnet])),
  )
  return networks.flatMap((network) =>
    network.subnets.flatMap((subnet) => {
      const before = oldSubnets.get(key(network.name, subnet.name))
      const users = before && assigned.get(key(network.name, subnet.name))
      if (!users) return []
      const wasCovered = coverage(before.allocationRanges)
      const isCovered = coverage(subnet.allocationRanges)
      const uncovered = users.filter(({ address }) => wasCovered(address) && !isCovered(address))
      if (uncovered.length === 0) return []
      const named = uncovered.slice(0, MAX_NAMED_ADDRESSES).map(({ address, ipSetName }) => `${address} (${ipSetName})`)
      const more = uncovered.length - named.length
      const rest = more > 0 ? ` and ${more} more` : ''
      return [
        `${network.name}/${subnet.name}: no allocationRange covers these addresses in use any more; they stay assigned: ${named.join(', ')}${rest}`,
      ]
    }),
  )
}

function coverage(ranges: readonly { readonly start: string; readonly end: string }[]): (text: string) => boolean {
  const covered = rangeSet(ranges.flatMap(({ start, end }) => parseRange(`${start}-${end}`) ?? []))
  return (text) => {
    const address = parseAddress(text)
    return address !== undefined && setContains(covered, address)
  }
}

function defaultNetConfig({ hasServiceNetwork }: Pick<NetworkView, 'hasServiceNetwork'>): AdmissionHandler {
  return async (request) => {
    if (!request.object || !(await hasServiceNetwork())) return allowed
    const { networks } = (request.object as NetConfig).spec
    const patch = networks.flatMap(({ name, serviceNetwork }, index): readonly JsonPatchOperation[] =>
      serviceNetwork ? [] : [{ op: 'add', path: `/spec/networks/${index}/serviceNetwork`, value: name.toLowerCase() }],
    )
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}

function validateIpSet(view: Pick<NetworkView, 'cachedNetConfigs' | 'netConfigs' | 'findHolder'>): AdmissionHandler {
  return async (request, { signal }): Promise<AdmissionResponse> => {
    const { spec, metadata } = request.object as IpSet
    const old = (request.oldObject as IpSet | null | undefined)?.spec
    if (old?.immutable && JSON.stringify(old.networks) !== JSON.stringify(spec.networks)) {
      return denied('Forbidden: Invalid value: "object": Spec.Networks is immutable')
    }
    // The deletion must be possible whatever happened to the NetConfig.
    if (metadata.deletionTimestamp) return allowed
    const namespace = request.namespace ?? ''
    const cached = evaluateIpSet(view.cachedNetConfigs(namespace), namespace, spec, old)
    // The cache may be behind: the API server is asked before anything is refused.
    const evaluation = isAccepted(cached)
      ? cached
      : evaluateIpSet(await view.netConfigs(namespace, signal), namespace, spec, old)
    if ('problem' in evaluation) return denied(evaluation.problem)
    const warnings = old ? [] : fixedIpWarnings(view, request, spec, evaluation.netConfig)
    return buildAnswer(request, evaluation.verdict, warnings)
  }
}

type Evaluation = { readonly verdict: Verdict; readonly netConfig: NetConfig } | { readonly problem: string }

function isAccepted(evaluation: Evaluation): boolean {
  return 'verdict' in evaluation && evaluation.verdict.refusals.length === 0
}

function evaluateIpSet(
  netConfigs: readonly NetConfig[],
  namespace: string,
  spec: IpSetSpec,
  old: IpSetSpec | undefined,
): Evaluation {
  const [config] = netConfigs
  if (!config) return { problem: `no NetConfig found in namespace ${namespace}, please create one` }
  if (netConfigs.length > 1) {
    // The spelling is upstream's.
    return { problem: `more then one NetConfig found in namespace ${namespace}, there must be only one` }
  }
  const verdict = judgeViolations(ipSetViolations(spec, config.spec), old && ipSetViolations(old, config.spec))
  const changes = old ? ipSetChangeViolations(spec, old) : []
  return { verdict: { ...verdict, refusals: [...verdict.refusals, ...changes] }, netConfig: config }
}

/** Fixed addresses that cannot be assigned now. The IPSet is stored and waits; its author is warned at once. */
function fixedIpWarnings(
  view: Pick<NetworkView, 'findHolder'>,
  { namespace = '', name = '' }: AdmissionRequest,
  spec: IpSetSpec,
  config: NetConfig,
): readonly string[] {
  const findSubnet = createSubnetFinder(config.spec)
  const fixedIpProblem = createFixedIpCheck()
  return spec.networks.flatMap((requested, index): readonly string[] => {
    const { network, subnet } = findSubnet(requested.name, requested.subnetName)
    if (requested.fixedIP === undefined || !network || !subnet) return []
    const field = `spec.networks[${index}].fixedIP`
    const problem = fixedIpProblem(requested, subnet)
    if (problem) return [`${field}: ${problem}`]
    const holder = view.findHolder(config, network.name, subnet.name, requested.fixedIP)
    const isTaken = holder && holder !== `${namespace}/${name}`
    return isTaken ? [`${field}: ${requested.fixedIP} already reserved by ${holder}`] : []
  })
}

/** Adds the finalizer with the create: the controller saves a write, and the IPSet never exists without it. */
function defaultIpSet(finalizers: readonly string[]): AdmissionHandler {
  return (request) => {
    const present = request.object?.metadata.finalizers ?? []
    if (request.operation !== 'CREATE' || present.some((finalizer) => finalizers.includes(finalizer))) return allowed
    const value = [...present, ...finalizers.slice(0, 1)]
    return { allowed: true, patch: [{ op: 'add', path: '/metadata/finalizers', value }] }
  }
}

/** A Reservation is internal and upstream accepts any, so text that is not an address only causes a warning. */
const validateReservation: AdmissionHandler = (request) => {
  const { spec } = request.object as Reservation
  const invalid = Object.entries(spec.reservation ?? {}).filter(([, { address }]) => !parseAddress(address))
  const warnings = invalid.map(
    ([key, { address }]) => `spec.reservation[${key}].address: ${address} is not an IP address`,
  )
  return { allowed: true, ...(warnings.length > 0 && { warnings }) }
}
