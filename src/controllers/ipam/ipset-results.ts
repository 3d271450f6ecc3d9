/**
 * Builds what is written for an IPSet from its allocation results: findings, status and Reservation, in infra-operator's
 * fields and messages.
 *
 * Pure. The Reservation shows what was granted; the ledger is what makes an address unique.
 */
import {
  type IpReservation,
  type IpSet,
  type IpSetStatus,
  ipSets,
  type Reservation,
  reservations,
} from '../../api/ipset.ts'
import { isLabelValue } from '../../api/label-value.ts'
import { networkVersion, resolveServiceNetwork } from '../../api/netconfig.ts'
import { controllerReference } from '../../api/ownership.ts'
import { sameJson } from '../../api/same-json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'
import { conditionError, conditionTrue, conditionUnknown, summarizeConditions } from '../kit/conditions.ts'
import type { IpSetClaim, RequestedNetwork } from './claim.ts'
import {
  addressOutsideSubnet,
  fixedAddressTaken,
  fixedAddressUnusable,
  reservationConflict,
  segmentListed,
  segmentNotShared,
  subnetExhausted,
} from './findings.ts'
import { ownerKey } from './ledger.ts'
import type { AllocationResult } from './plan-allocation.ts'

export interface AllocatedNetwork extends RequestedNetwork {
  readonly address: string
}

export interface IpSetResult {
  readonly allocated: readonly AllocatedNetwork[]
  /** Why networks of the IPSet have no address. */
  readonly findings: readonly Finding[]
}

export function summarizeResults(
  { networks, findings, claim }: IpSetClaim,
  results: readonly AllocationResult[],
): IpSetResult {
  const family = (index: number): 4 | 6 => claim.requests[index]?.pool.cidr.family ?? 4
  const allocated = results.flatMap((result, index): readonly AllocatedNetwork[] => {
    const requested = networks[index]
    if (result.kind !== 'granted' || !requested) return []
    return [{ ...requested, address: formatAddress({ family: family(index), value: result.value }) }]
  })
  const refusals = results.flatMap((result, index) => findingForResult(result, family(index), claim.namespace) ?? [])
  return { allocated, findings: [...findings, ...refusals] }
}

function findingForResult(result: AllocationResult, family: 4 | 6, namespace: string): Finding | undefined {
  const { network, subnet } = result
  if (result.kind === 'granted') return undefined
  if (result.kind === 'exhausted') {
    return finding(subnetExhausted, { network, subnet, used: result.used, most: result.most })
  }
  if (result.kind === 'foreign') {
    const { segment, namespace: owner, because } = result
    return finding(because === 'listed' ? segmentListed : segmentNotShared, {
      network,
      subnet,
      segment,
      owner,
      namespace,
    })
  }
  const address = formatAddress({ family, value: result.value })
  if (result.kind === 'outside') return finding(addressOutsideSubnet, { address, network, subnet })
  if (result.kind !== 'taken') return finding(fixedAddressUnusable, { address, subnet, why: result.kind })
  const facts = { address, network, holder: ownerKey(result.holder) }
  return finding(result.source === 'fixed' ? fixedAddressTaken : reservationConflict, facts)
}

export function eventForFinding(regarding: IpSet, { code, message, remedy }: Finding): EventRecord {
  const note = `${code}: ${message}. ${remedy}`
  return { regarding, type: 'Warning', reason: 'NoAddress', action: 'Allocate', note }
}

/** The first version of the API had fewer status fields; the served CRD decides. */
export type StatusForm = 'current' | 'legacy'

/** A field that the served CRD does not have would be refused. */
export function detectStatusForm(crd: unknown): StatusForm {
  return JSON.stringify(crd ?? null).includes('"serviceNetwork"') ? 'current' : 'legacy'
}

/** What the status reports: the results, or why the input cannot be used. */
export type IpSetState = IpSetResult | { readonly inputProblem: string }

/** The new status, or undefined when the stored one is the same. */
export function buildIpSetStatus(
  ipSet: IpSet,
  state: IpSetState,
  form: StatusForm,
  now: string,
): IpSetStatus | undefined {
  const allocated = 'allocated' in state ? state.allocated : []
  const { generation } = ipSet.metadata
  const status: IpSetStatus = {
    conditions: summarizeConditions(ipSetConditions(state), ipSet.status?.conditions, now),
    ...(form === 'current' && generation !== undefined && { observedGeneration: generation }),
    ...(allocated.length > 0 && {
      reservations: sortAllocated(allocated, form).map((network) => statusEntry(network, form)),
    }),
  }
  return sameJson(normalize(ipSet.status), normalize(status)) ? undefined : status
}

function ipSetConditions(state: IpSetState): Parameters<typeof summarizeConditions>[0] {
  if ('inputProblem' in state) {
    return [
      conditionError('InputReady', state.inputProblem),
      conditionUnknown('ReservationReady', 'Reservation create not started'),
    ]
  }
  const causes = state.findings.map(({ message }) => message)
  return [
    conditionTrue('InputReady', 'Input data complete'),
    causes.length > 0
      ? // The spelling is upstream's.
        conditionError('ReservationReady', `Reservation error occured ${causes.join('; ')}`)
      : conditionTrue('ReservationReady', 'Reservation successful'),
  ]
}

/** An empty list means the same as none. */
function normalize(status: IpSetStatus | undefined): unknown {
  return { ...status, reservations: status?.reservations ?? [] }
}

function sortAllocated(allocated: readonly AllocatedNetwork[], form: StatusForm): readonly AllocatedNetwork[] {
  if (form === 'legacy') return [...allocated].sort((a, b) => (a.network.name < b.network.name ? -1 : 1))
  const isControlPlane = (network: AllocatedNetwork): boolean => serviceNetwork(network) === 'ctlplane'
  return [...allocated.filter(isControlPlane), ...allocated.filter((network) => !isControlPlane(network))]
}

function serviceNetwork({ network }: RequestedNetwork): string {
  return resolveServiceNetwork(network.name, network.serviceNetwork)
}

function statusEntry(allocated: AllocatedNetwork, form: StatusForm): IpReservation {
  const { network, subnet, address, defaultRoute } = allocated
  const { cidr, vlan, gateway } = subnet
  const dnsDomain = subnet.dnsDomain || network.dnsDomain
  const destination = parseAddress(address)?.family === 6 ? '::/0' : '0.0.0.0/0'
  const hasDefaultRoute = form === 'current' && defaultRoute && gateway
  const routes = [...(subnet.routes ?? []), ...(hasDefaultRoute ? [{ destination, nexthop: gateway }] : [])]
  return {
    network: network.name,
    subnet: subnet.name,
    address,
    ...(dnsDomain !== undefined && { dnsDomain }),
    mtu: network.mtu,
    cidr,
    ...(vlan !== undefined && { vlan }),
    ...(gateway !== undefined && { gateway }),
    ...(routes.length > 0 && { routes }),
    ...(form === 'current' && { serviceNetwork: serviceNetwork(allocated) }),
  }
}

/** The name of the current API, then that of its first version. */
export const IPSET_FINALIZERS: readonly string[] = ['openstack.org/ipset', 'IPSet']

export function hasFinalizer({ metadata }: IpSet | Reservation): boolean {
  return metadata.finalizers?.some((finalizer) => IPSET_FINALIZERS.includes(finalizer)) ?? false
}

export function withFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.some((finalizer) => IPSET_FINALIZERS.includes(finalizer))
    ? finalizers
    : [...finalizers, ...IPSET_FINALIZERS.slice(0, 1)]
}

export function withoutFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.filter((finalizer) => !IPSET_FINALIZERS.includes(finalizer))
}

/** The Reservation as infra-operator writes it, with the ipSetRef that it leaves out; undefined when it is up to date. */
export function buildReservation(
  ipSet: IpSet,
  allocated: readonly AllocatedNetwork[],
  existing: Reservation | undefined,
): Reservation | undefined {
  const { name, namespace = '', uid = '' } = ipSet.metadata
  const entries = allocated.map(({ network, subnet, address }) => ({
    network: network.name,
    subnet: subnet.name,
    address,
  }))
  if (entries.length === 0 && !existing) return undefined
  // An entry that is no longer requested stays, as in upstream: removing it is left to the user.
  const reservation = {
    ...existing?.spec.reservation,
    ...Object.fromEntries(entries.map((entry) => [entry.network, entry])),
  }
  // A name of a network may be longer than a label, and the API server would refuse the whole Reservation.
  const labelled = entries.filter(({ network, subnet }) => isLabelValue(network) && isLabelValue(subnet))
  const labels = {
    ...Object.fromEntries(labelled.map(({ network, subnet }) => [`ipam.network.openstack.org/${network}`, subnet])),
    ...existing?.metadata.labels,
  }
  if (existing && isUpToDate(existing, { reservation, labels, uid })) return undefined
  const otherOwners = existing?.metadata.ownerReferences?.filter(({ kind }) => kind !== 'IPSet') ?? []
  return {
    ...(existing ?? reservations),
    apiVersion: networkVersion,
    kind: 'Reservation',
    metadata: {
      ...(existing?.metadata ?? { name, namespace }),
      labels,
      finalizers: withFinalizer(existing?.metadata.finalizers),
      ownerReferences: [...otherOwners, controllerReference({ ...ipSet, ...ipSets })],
    },
    spec: { ipSetRef: { ...ipSets, name, namespace, uid }, reservation },
  }
}

function isUpToDate(
  existing: Reservation,
  { reservation, labels, uid }: { readonly reservation: object; readonly labels: object; readonly uid: string },
): boolean {
  const { metadata, spec } = existing
  return (
    sameJson(spec.reservation ?? {}, reservation) &&
    sameJson(metadata.labels ?? {}, labels) &&
    hasFinalizer(existing) &&
    (metadata.ownerReferences ?? []).some((owner) => owner.kind === 'IPSet' && owner.uid === uid)
  )
}
