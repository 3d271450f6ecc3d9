/**
 * Decides what is built for a rehearsal: the nodes with their NICs, and the switches with the VLANs of each port.
 *
 * Pure. A switch carries exactly what the plan has, so that a frame on any other VLAN is lost as in a real data centre.
 */
import type { Plan, PlannedSubnet } from '../plan/plan.ts'
import type { Bond, ClusterNode } from '../site/site.ts'

export interface Topology {
  readonly nodes: readonly RehearsedNode[]
  /** One switch per role of a NIC: segments of two roles are never connected. */
  readonly switches: readonly Switch[]
  /** A machine with the gateways of each segment. */
  readonly routers: readonly Router[]
}

export interface Router {
  readonly kind: 'machine'
  readonly name: string
  readonly role: string
  /** On the switch, also where frames are untagged. */
  readonly vlan: number
  /** With the lengths of their prefixes. */
  readonly addresses: readonly string[]
}

export interface RehearsedNode {
  readonly name: string
  readonly nics: readonly NodeNic[]
}

export interface NodeNic {
  readonly name: string
  readonly mac: string
  /** The interface on the switch. */
  readonly port: string
}

export interface Switch {
  /** The role of the NICs: `main`. */
  readonly role: string
  readonly ports: readonly SwitchPort[]
}

export interface SwitchPort {
  readonly name: string
  readonly node: string
  readonly nic: string
  /** The VLANs that it carries with their tags. */
  readonly vlans: readonly number[]
  /** The VLAN of untagged frames; absent: they are dropped. */
  readonly native?: number
  readonly mtu: number
  /** Ports with the same name here are one link aggregation. */
  readonly aggregate?: { readonly name: string; readonly lacp: boolean }
}

/** Of most data centre switches: 9000 and the headers of a tunnel. */
export const SWITCH_MTU = 9216

export function planTopology(plan: Plan, nodes: readonly ClusterNode[]): Topology {
  const { bonds } = plan.from.cluster
  const portsByRole = new Map<string, SwitchPort[]>()
  const rehearsed = nodes.map((node, index): RehearsedNode => {
    const nics: NodeNic[] = []
    for (const [role, nic] of Object.entries(node.nics)) {
      const carried = carriedVlans(plan, role)
      if (!carried) continue
      const bond = bonds.find(({ name }) => name === nic)
      for (const card of bond?.ports ?? [nic]) {
        const port = `n${index}p${nics.length}`
        nics.push({ name: card, mac: formatMac(index, nics.length), port })
        addTo(portsByRole, role, {
          name: port,
          node: node.name,
          nic: card,
          ...carried,
          mtu: SWITCH_MTU,
          ...aggregate(index, bond),
        })
      }
    }
    return { name: node.name, nics }
  })
  const switches = [...portsByRole].map(([role, ports]) => ({ role, ports }))
  return { nodes: rehearsed, switches, routers: planRouters(plan, switches) }
}

/** The names of switch ports are short: Linux allows 15 characters. */
function planRouters(plan: Plan, switches: readonly Switch[]): readonly Router[] {
  return plan.segments.flatMap(({ id, nic, vlan, networks }, index): readonly Router[] => {
    const native = switches.find(({ role }) => role === nic)?.ports[0]?.native
    const tag = vlan ?? native
    const addresses = plan.clouds
      .flatMap((cloud) => cloud.networks.filter(({ segment }) => segment === id))
      .flatMap(({ subnets }) => subnets.flatMap(formatGateway))
    if (tag === undefined || addresses.length === 0 || networks.length === 0) return []
    return [{ kind: 'machine', name: `r${index}`, role: nic, vlan: tag, addresses: [...new Set(addresses)] }]
  })
}

function formatGateway({ gateway, cidr }: PlannedSubnet): readonly string[] {
  return gateway === undefined ? [] : [`${gateway}${cidr.slice(cidr.indexOf('/'))}`]
}

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}

function carriedVlans(plan: Plan, role: string): Pick<SwitchPort, 'vlans' | 'native'> | undefined {
  const segments = plan.segments.filter(({ nic }) => nic === role)
  if (segments.length === 0) return undefined
  const vlans = [...new Set(segments.flatMap(({ vlan }) => vlan ?? []))].sort((a, b) => a - b)
  const isUntagged = segments.some(({ vlan }) => vlan === undefined)
  return { vlans, ...(isUntagged && { native: highestFreeVlan(vlans) }) }
}

/** The switch needs an id for untagged frames, which no segment has. */
function highestFreeVlan(used: readonly number[], below = 4095): number {
  let id = below - 1
  while (used.includes(id)) id -= 1
  return id
}

/** The modes that expect an aggregated link on the switch; the others work with independent ports. */
const aggregatedModes = ['802.3ad', 'balance-rr', 'balance-xor']

function aggregate(node: number, bond: Bond | undefined): Pick<SwitchPort, 'aggregate'> {
  if (!bond || !aggregatedModes.includes(bond.mode)) return {}
  return { aggregate: { name: `n${node}-${bond.name}`, lacp: bond.mode === '802.3ad' } }
}

/** A locally administered address; the node and the NIC are in its last two bytes. */
function formatMac(node: number, nic: number): string {
  const byte = (value: number): string => value.toString(16).padStart(2, '0')
  return `52:54:00:5c:${byte(node)}:${byte(nic)}`
}
