/**
 * The status of an IPSet: what was given and how it stands, in upstream's fields, types and words.
 *
 * Pure. `today` is the form of the current API, `2023` that of its beginnings: which one is served decides.
 */

import type { IpReservation, IpSet, IpSetStatus } from '../../api/ipset.ts'
import { resolveServiceNetwork } from '../../api/netconfig.ts'
import { sameJson } from '../../api/same-json.ts'
import { parseAddress } from '../../net/address.ts'
import { conditionError, conditionTrue, conditionUnknown, summarizeConditions } from '../kit/conditions.ts'
import type { RequestedNetwork } from './claim.ts'

export type StatusForm = 'today' | '2023'

/** What was given on one network. */
export interface AllocatedNetwork extends RequestedNetwork {
  readonly address: string
}

/** How an IPSet stands: its input, and what came of it. */
export interface IpSetState {
  readonly allocated: readonly AllocatedNetwork[]
  /** Why the input cannot be used. */
  readonly inputProblem?: string
  /** Why not every network has its address. */
  readonly causes: readonly string[]
}

/** The new status, or undefined when the one that is stored says the same. */
export function buildIpSetStatus(
  ipSet: IpSet,
  { allocated, inputProblem, causes }: IpSetState,
  form: StatusForm,
  now: string,
): IpSetStatus | undefined {
  const input =
    inputProblem === undefined
      ? conditionTrue('InputReady', 'Input data complete')
      : conditionError('InputReady', inputProblem)
  const reserved =
    inputProblem !== undefined
      ? conditionUnknown('ReservationReady', 'Reservation create not started')
      : causes.length > 0
        ? conditionError('ReservationReady', `Reservation error occured ${causes.join('; ')}`)
        : conditionTrue('ReservationReady', 'Reservation successful')
  const conditions = summarizeConditions([input, reserved], ipSet.status?.conditions, now)
  const { generation } = ipSet.metadata
  const status: IpSetStatus = {
    conditions,
    ...(form === 'today' && generation !== undefined && { observedGeneration: generation }),
    ...(allocated.length > 0 && {
      reservations: sortAllocated(allocated, form).map((allotment) => statusEntry(allotment, form)),
    }),
  }
  return sameJson(normalize(ipSet.status), normalize(status)) ? undefined : status
}

/** An empty list and none are one thing. */
function normalize(status: IpSetStatus | undefined): unknown {
  return { ...status, reservations: status?.reservations ?? [] }
}

function sortAllocated(allotments: readonly AllocatedNetwork[], form: StatusForm): readonly AllocatedNetwork[] {
  if (form === '2023') return [...allotments].sort((a, b) => (a.network.name < b.network.name ? -1 : 1))
  const isFirst = (allotment: AllocatedNetwork): boolean => serviceNetwork(allotment) === 'ctlplane'
  return [...allotments.filter(isFirst), ...allotments.filter((allotment) => !isFirst(allotment))]
}

function serviceNetwork({ network }: RequestedNetwork): string {
  return resolveServiceNetwork(network.name, network.serviceNetwork)
}

function statusEntry(allotment: AllocatedNetwork, form: StatusForm): IpReservation {
  const { network, subnet, address, defaultRoute } = allotment
  const { cidr, vlan, gateway, routes = [] } = subnet
  const dnsDomain = subnet.dnsDomain || network.dnsDomain
  const zero = parseAddress(address)?.family === 6 ? '::/0' : '0.0.0.0/0'
  const byDefault = form === 'today' && defaultRoute && gateway ? [{ destination: zero, nexthop: gateway }] : []
  const all = [...routes, ...byDefault]
  return {
    network: network.name,
    subnet: subnet.name,
    address,
    ...(dnsDomain !== undefined && { dnsDomain }),
    mtu: network.mtu,
    cidr,
    ...(vlan !== undefined && { vlan }),
    ...(gateway !== undefined && { gateway }),
    ...(all.length > 0 && { routes: all }),
    ...(form === 'today' && { serviceNetwork: serviceNetwork(allotment) }),
  }
}

/** The form that a CustomResourceDefinition of IPSets can hold: fields that it does not know would be refused. */
export function detectStatusForm(crd: unknown): StatusForm {
  return JSON.stringify(crd ?? null).includes('"serviceNetwork"') ? 'today' : '2023'
}
