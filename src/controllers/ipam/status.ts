/**
 * The status of an IPSet: what was given and how it stands, in upstream's fields, types and words.
 *
 * Pure. `today` is the form of the current API, `2023` that of its beginnings: which one is served decides.
 */

import type { IpReservation, IpSet, IpSetStatus } from '../../api/ipset.ts'
import { serviceNetworkOf } from '../../api/netconfig.ts'
import { sameJson } from '../../api/same-json.ts'
import { parseAddress } from '../../net/address.ts'
import { done, failed, notBegun, summedUp } from '../conditions.ts'
import type { Wish } from './claim-of.ts'

export type StatusForm = 'today' | '2023'

/** What was given on one network. */
export interface Allotment extends Wish {
  readonly address: string
}

/** How an IPSet stands: its input, and what came of it. */
export interface Standing {
  readonly allotments: readonly Allotment[]
  /** Why the input cannot be used. */
  readonly inputProblem?: string
  /** Why not every network has its address. */
  readonly causes: readonly string[]
}

/** The new status, or undefined when the one that is stored says the same. */
export function statusFor(
  ipSet: IpSet,
  { allotments, inputProblem, causes }: Standing,
  form: StatusForm,
  now: string,
): IpSetStatus | undefined {
  const input =
    inputProblem === undefined
      ? done('InputReady', 'Input data complete')
      : failed('InputReady', inputProblem)
  const reserved =
    inputProblem !== undefined
      ? notBegun('ReservationReady', 'Reservation create not started')
      : causes.length > 0
        ? failed('ReservationReady', `Reservation error occured ${causes.join('; ')}`)
        : done('ReservationReady', 'Reservation successful')
  const conditions = summedUp([input, reserved], ipSet.status?.conditions, now)
  const { generation } = ipSet.metadata
  const status: IpSetStatus = {
    conditions,
    ...(form === 'today' && generation !== undefined && { observedGeneration: generation }),
    ...(allotments.length > 0 && {
      reservations: inOrder(allotments, form).map((one) => entryOf(one, form)),
    }),
  }
  return sameJson(normal(ipSet.status), normal(status)) ? undefined : status
}

/** An empty list and none are one thing. */
function normal(status: IpSetStatus | undefined): unknown {
  return { ...status, reservations: status?.reservations ?? [] }
}

function inOrder(allotments: readonly Allotment[], form: StatusForm): readonly Allotment[] {
  if (form === '2023') return [...allotments].sort((a, b) => (a.network.name < b.network.name ? -1 : 1))
  const isFirst = (one: Allotment): boolean => playedBy(one) === 'ctlplane'
  return [...allotments.filter(isFirst), ...allotments.filter((one) => !isFirst(one))]
}

function playedBy({ network }: Wish): string {
  return serviceNetworkOf(network.name, network.serviceNetwork)
}

function entryOf(allotment: Allotment, form: StatusForm): IpReservation {
  const { network, subnet, address, defaultRoute } = allotment
  const { cidr, vlan, gateway, routes = [] } = subnet
  const dnsDomain = subnet.dnsDomain || network.dnsDomain
  const zero = parseAddress(address)?.family === 6 ? '::/0' : '0.0.0.0/0'
  const byDefault =
    form === 'today' && defaultRoute && gateway ? [{ destination: zero, nexthop: gateway }] : []
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
    ...(form === 'today' && { serviceNetwork: playedBy(allotment) }),
  }
}

/** The form that a CustomResourceDefinition of IPSets can hold: fields that it does not know would be refused. */
export function statusFormOf(crd: unknown): StatusForm {
  return JSON.stringify(crd ?? null).includes('"serviceNetwork"') ? 'today' : '2023'
}
