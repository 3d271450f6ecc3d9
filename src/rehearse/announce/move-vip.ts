/** Cuts the node that announces a VIP off from all networks, and measures how long it takes until another node answers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Enclosure } from '../enclosure.ts'
import { vipStays } from '../findings.ts'
import type { RunningNode } from '../nodes.ts'
import type { RunningSwitch } from '../switch/switch.ts'
import { plugPorts } from '../switch/switch-commands.ts'
import type { Topology } from '../topology.ts'

export interface MovedVip {
  readonly address: string
  readonly from: string
  readonly to: string
  readonly seconds: number
}

export type VipMove =
  | { readonly kind: 'moved'; readonly vip: MovedVip }
  | { readonly kind: 'stays'; readonly finding: Finding }

/** The observer on the segment of the VIP. */
const OBSERVER = 'v0'
/** Much longer than a speaker needs to notice the loss of another one, also on a busy machine. */
const MOVE_MS = 180_000

export interface MoveDeps {
  readonly enclosure: Enclosure
  readonly switches: RunningSwitch
  readonly nodes: readonly RunningNode[]
  /** busybox, whose arping needs no address of its own. */
  readonly busybox: string
  readonly signal?: AbortSignal | undefined
}

export async function moveVip(target: MoveTarget, topology: Topology, deps: MoveDeps): Promise<VipMove> {
  const { address, role, vlan } = target
  const { enclosure, switches, nodes, signal } = deps
  await switches.plug({ kind: 'machine', name: OBSERVER, role, vlan, addresses: [] })
  const [, observer] = plugPorts({ name: OBSERVER })
  const args = ['arping', '-D', '-c', '1', '-w', '1', '-I', observer, address]
  const ask = async (): Promise<string | undefined> => {
    signal?.throwIfAborted()
    return parseHolder((await enclosure.exec({ file: deps.busybox, args })).stdout)
  }
  const answer = async (isHolder: (mac: string) => boolean): Promise<string | undefined> => {
    const deadline = performance.now() + MOVE_MS
    while (performance.now() < deadline) {
      const mac = await ask()
      if (mac !== undefined && isHolder(mac)) return mac
      await sleep(100)
    }
    return undefined
  }
  const stays = (from: string): VipMove => ({
    kind: 'stays',
    finding: finding(vipStays, { address, node: from, seconds: MOVE_MS / 1000 }),
  })
  const first = await answer(() => true)
  const holder = nodes.find(({ name }) => name === nodeWithMac(topology, first))
  if (first === undefined || !holder) return stays('no node')
  await holder.cutOff()
  const startedAt = performance.now()
  const second = await answer((mac) => mac !== first)
  if (second === undefined) return stays(holder.name)
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return { kind: 'moved', vip: { address, from: holder.name, to: nodeWithMac(topology, second) ?? second, seconds } }
}

export interface MoveTarget {
  readonly address: string
  readonly role: string
  readonly vlan: number
}

/**
 * Pure: the first IPv4 VIP of a tagged network, whose interfaces have the hardware addresses of their NICs; a bridge may take
 * that of a pod. Undefined where there is none, or one node.
 */
export function planMove({ clouds, segments }: Plan, { nodes }: Topology): MoveTarget | undefined {
  if (nodes.length < 2) return undefined
  for (const { vips, segment: id } of clouds.flatMap(({ networks }) => networks)) {
    const address = vips.map((vip) => vip.address).find((text) => !text.includes(':'))
    const segment = segments.find((candidate) => candidate.id === id)
    if (address === undefined || segment?.vlan === undefined || segment.bridge !== undefined) continue
    return { address, role: segment.nic, vlan: segment.vlan }
  }
  return undefined
}

function nodeWithMac({ nodes }: Topology, mac: string | undefined): string | undefined {
  return nodes.find(({ nics }) => nics.some((nic) => nic.mac === mac))?.name
}

/** Pure: the sender in the output of arping, in brackets. */
export function parseHolder(output: string): string | undefined {
  return /\[([0-9a-f:]{17})\]/i.exec(output)?.[1]?.toLowerCase()
}
