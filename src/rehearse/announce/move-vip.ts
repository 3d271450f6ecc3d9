/** Cuts a node that announces VIPs off from all networks, and measures how long it takes until another node answers for them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Enclosure } from '../enclosure.ts'
import { vipStays } from '../findings.ts'
import type { RunningNode } from '../nodes.ts'
import type { RunningSwitch } from '../switch/switch.ts'
import { plugPorts } from '../switch/switch-commands.ts'
import type { Topology } from '../topology.ts'
import { askHolder } from './vip-holder.ts'

export interface MovedVip {
  readonly address: string
  readonly from: string
  readonly to: string
  readonly seconds: number
}

/** What the loss of a node showed. */
export interface NodeLoss {
  readonly moved: readonly MovedVip[]
  readonly findings: readonly Finding[]
}

/** The observer on the segment of the VIPs. */
const OBSERVER = 'v0'
/** Much longer than a speaker needs to notice the loss of another one, also on a busy machine. */
const MOVE_MS = 180_000

export interface MoveDeps {
  readonly enclosure: Enclosure
  readonly switches: RunningSwitch
  readonly nodes: readonly Pick<RunningNode, 'name' | 'cutOff'>[]
  readonly busybox: string
  readonly signal?: AbortSignal | undefined
}

/** A VIP with the hardware address that answers for it before the loss. */
export interface HeldVip {
  readonly address: string
  readonly mac: string
  readonly node: string
}

export async function moveVips(target: MoveTarget, topology: Topology, deps: MoveDeps): Promise<NodeLoss> {
  const { addresses, role, vlan } = target
  const { enclosure, switches, nodes, busybox, signal } = deps
  await switches.plug({ kind: 'machine', name: OBSERVER, role, vlan, addresses: [] })
  const observer = { iface: plugPorts({ name: OBSERVER })[1], busybox }
  const answer = async (address: string, isHolder: (mac: string) => boolean): Promise<string | undefined> => {
    const deadline = performance.now() + MOVE_MS
    do {
      signal?.throwIfAborted()
      const mac = await askHolder(enclosure, observer, address)
      if (mac !== undefined && isHolder(mac)) return mac
      await sleep(100)
    } while (performance.now() < deadline)
    return undefined
  }
  const stays = (address: string, node: string): Finding =>
    finding(vipStays, { address, node, seconds: MOVE_MS / 1000 })
  const held: HeldVip[] = []
  for (const address of addresses) {
    const mac = await answer(address, () => true)
    const node = nodeWithMac(topology, mac)
    if (mac === undefined || node === undefined) return { moved: [], findings: [stays(address, 'no node')] }
    held.push({ address, mac, node })
  }
  const lost = chooseLost(held)
  const holder = nodes.find(({ name }) => name === lost[0]?.node)
  if (!holder) return { moved: [], findings: [] }
  await holder.cutOff()
  const startedAt = performance.now()
  const outcomes = await Promise.all(
    lost.map(async ({ address, mac: before }): Promise<MovedVip | Finding> => {
      const mac = await answer(address, (other) => other !== before)
      if (mac === undefined) return stays(address, holder.name)
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10
      return { address, from: holder.name, to: nodeWithMac(topology, mac) ?? mac, seconds }
    }),
  )
  return {
    moved: outcomes.filter((outcome): outcome is MovedVip => 'to' in outcome),
    findings: outcomes.filter((outcome): outcome is Finding => 'code' in outcome),
  }
}

export interface MoveTarget {
  /** VIPs on one segment. */
  readonly addresses: readonly string[]
  readonly role: string
  readonly vlan: number
}

/**
 * Pure: the VIPs of the first tagged network with any, whose interfaces have the hardware addresses of their NICs; a bridge may
 * take that of a pod. Undefined where there is none, or one node.
 */
export function planMove({ clouds, segments }: Plan, { nodes }: Topology): MoveTarget | undefined {
  if (nodes.length < 2) return undefined
  for (const { vips, segment: id } of clouds.flatMap(({ networks }) => networks)) {
    const addresses = [...new Set(vips.map((vip) => vip.address))]
    const segment = segments.find((candidate) => candidate.id === id)
    if (addresses.length === 0 || segment?.vlan === undefined || segment.bridge !== undefined) continue
    return { addresses, role: segment.nic, vlan: segment.vlan }
  }
  return undefined
}

/** Pure: one VIP of each family that the node has which holds VIPs of the most families. */
export function chooseLost(held: readonly HeldVip[]): readonly HeldVip[] {
  const isSix = ({ address }: HeldVip): boolean => address.includes(':')
  const perNode = [...new Set(held.map(({ node }) => node))].map((node) => {
    const onNode = held.filter((vip) => vip.node === node)
    return [onNode.find((vip) => !isSix(vip)), onNode.find(isSix)].filter((vip) => vip !== undefined)
  })
  return perNode.toSorted((a, b) => b.length - a.length)[0] ?? []
}

function nodeWithMac({ nodes }: Topology, mac: string | undefined): string | undefined {
  return nodes.find(({ nics }) => nics.some((nic) => nic.mac === mac))?.name
}
