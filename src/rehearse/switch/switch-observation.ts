/**
 * Judges what the ports of the switches have carried: after all networks were tested, every port has seen a frame of every
 * VLAN that the plan has for it, and nothing else. This names the port at fault, which a pod cannot see.
 *
 * Pure.
 */

import { groupBy } from '../../api/collections.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Plan, Segment } from '../../plan/plan.ts'
import { cablesExchanged, portDropsVlan, portMtu, unknownMachine, vlansConnected } from '../findings.ts'
import type { SwitchPort, Topology } from '../topology.ts'
import { plugPorts } from './switch-commands.ts'

/** One line of a forwarding table: behind which port a hardware address was seen. */
export interface ForwardingEntry {
  readonly port: string
  readonly vlan: number
  readonly mac: string
}

export interface SwitchObservation {
  readonly forwarding: readonly ForwardingEntry[]
  readonly mtus: ReadonlyMap<string, number>
  /** The role of the switch that each interface is connected to. */
  readonly switchOfPort: ReadonlyMap<string, string>
}

export function judgeSwitches(plan: Plan, planned: Topology, observed: SwitchObservation): readonly Finding[] {
  const moved = exchangedPorts(planned, observed)
  if (moved.length > 0) return moved
  const ports = planned.switches.flatMap(({ role, ports: all }) => all.map((port) => ({ role, port })))
  const nodePorts = ports.map(({ port }) => port.name)
  return [
    ...planned.switches.flatMap(({ role, ports: all }) =>
      groupLinks(all).flatMap((link) => droppedVlans(plan, role, link, observed)),
    ),
    ...ports.flatMap(({ role, port }) => smallMtu(plan, role, port, observed)),
    ...connectedVlans(plan, nodePorts, observed),
    ...unknownMachines(plan, [...nodePorts, ...planned.routers.map((router) => plugPorts(router)[0])], observed),
  ]
}

function exchangedPorts({ switches }: Topology, { switchOfPort }: SwitchObservation): readonly Finding[] {
  return switches.flatMap(({ role, ports }) =>
    ports.flatMap(({ name, node, nic }) => {
      const actual = switchOfPort.get(name)
      return actual === undefined || actual === role ? [] : [finding(cablesExchanged, { node, nic, role, actual })]
    }),
  )
}

/** The ports of an aggregated link share the work: any of them may have carried a frame. */
function groupLinks(ports: readonly SwitchPort[]): readonly (readonly SwitchPort[])[] {
  return [...groupBy(ports, ({ name, aggregate }) => aggregate?.name ?? name).values()]
}

function droppedVlans(
  plan: Plan,
  role: string,
  link: readonly SwitchPort[],
  observed: SwitchObservation,
): readonly Finding[] {
  const [first] = link
  if (!first) return []
  const { node, vlans, native } = first
  const nic = link.map((port) => port.nic).join(' and ')
  const names = link.map(({ name }) => name)
  const carried = new Set(observed.forwarding.filter(({ port }) => names.includes(port)).map(({ vlan }) => vlan))
  const expected = [...vlans, ...(native === undefined ? [] : [native])]
  return expected
    .filter((vlan) => !carried.has(vlan))
    .flatMap((vlan) => {
      const segment = segmentAt(plan, role, vlan === native ? undefined : vlan)
      // No machine sends on a segment whose clouds are not rehearsed.
      if (!segment) return []
      const { networks } = segment
      return [finding(portDropsVlan, { node, nic, vlan: vlan === native ? 'untagged' : String(vlan), networks })]
    })
}

function smallMtu(plan: Plan, role: string, { name, node, nic }: SwitchPort, { mtus }: SwitchObservation) {
  const needed = Math.max(...plan.segments.filter((segment) => segment.nic === role).map(({ mtu }) => mtu))
  const mtu = mtus.get(name)
  return mtu === undefined || mtu >= needed ? [] : [finding(portMtu, { node, nic, mtu, needed })]
}

/** An address that is seen on two VLANs behind two ports: something connects them. */
function connectedVlans(
  plan: Plan,
  nodePorts: readonly string[],
  { forwarding }: SwitchObservation,
): readonly Finding[] {
  const byMac = groupBy(forwarding, ({ mac }) => mac)
  const pairs = new Map<string, Connection>()
  for (const entries of byMac.values()) {
    const vlans = [...new Set(entries.map(({ vlan }) => vlan))].toSorted((a, b) => a - b)
    // A NIC has one hardware address on all its VLANs, a pod is on one: only pods show which two are connected.
    if (vlans.length !== 2 || new Set(entries.map(({ port }) => port)).size === 1) continue
    const crossed = entries.map(({ port }) => port).filter((port) => !nodePorts.includes(port))
    const known = pairs.get(vlans.join())?.ports ?? []
    pairs.set(vlans.join(), { vlans, ports: [...new Set([...known, ...crossed])].toSorted() })
  }
  return [...pairs.values()].map(({ vlans, ports }) =>
    finding(vlansConnected, {
      vlans,
      networks: vlans.flatMap((vlan) => plan.segments.find((segment) => segment.vlan === vlan)?.networks ?? []),
      ports,
    }),
  )
}

interface Connection {
  readonly vlans: readonly number[]
  /** Those without a node. */
  readonly ports: readonly string[]
}

function unknownMachines(plan: Plan, known: readonly string[], { forwarding }: SwitchObservation): readonly Finding[] {
  const ofNodes = new Set(forwarding.filter(({ port }) => known.includes(port)).map(({ mac }) => mac))
  return forwarding
    .filter(({ port, mac }) => !known.includes(port) && !ofNodes.has(mac))
    .map(({ mac, port, vlan }) => {
      const networks = plan.segments.find((segment) => segment.vlan === vlan)?.networks ?? []
      return finding(unknownMachine, { mac, port, vlan, networks })
    })
}

function segmentAt({ segments }: Plan, role: string, vlan: number | undefined): Segment | undefined {
  return segments.find((segment) => segment.nic === role && segment.vlan === vlan)
}

/** The output of `ovs-appctl fdb/show`: port number, VLAN, address and age. The numbers count from 1 in every switch. */
export function parseForwarding(
  text: string,
  numbers: ReadonlyMap<string, number>,
  names: readonly string[],
): readonly ForwardingEntry[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+([0-9a-f:]{17})\s/.exec(line)
    const port = names.find((name) => numbers.get(name) === Number(match?.[1]))
    return match && port !== undefined ? [{ port, vlan: Number(match[2]), mac: match[3] ?? '' }] : []
  })
}

/** The output of `ovs-vsctl --format=json --columns=name,ofport list Interface`. */
export function parsePorts(text: string): ReadonlyMap<string, number> {
  const { data } = JSON.parse(text) as { readonly data: readonly (readonly [string, unknown])[] }
  return new Map(data.flatMap(([name, port]) => (typeof port === 'number' ? [[name, port] as const] : [])))
}

/** The output of `ip -json link`. */
export function parseMtus(text: string): ReadonlyMap<string, number> {
  const links = JSON.parse(text) as readonly { readonly ifname: string; readonly mtu: number }[]
  return new Map(links.map(({ ifname, mtu }) => [ifname, mtu]))
}
