/** Reads the interfaces of the nodes from the node policies of a cluster. */
import { asInteger, asList, asRecord, asString, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'

export interface NodeInterface {
  readonly name: string
  /** A VLAN on another interface. */
  readonly vlan?: { readonly id: number; readonly base: string }
  /** A bridge over these ports. */
  readonly ports?: readonly string[]
  readonly mtu: number | undefined
  /** By node's name. */
  readonly addresses: ReadonlyMap<string, readonly string[]>
}

export type NodeInterfaces = ReadonlyMap<string, NodeInterface>

export function readInterfaces(policies: readonly KubeObject[], nodes: readonly KubeObject[]): NodeInterfaces {
  const interfaces = new Map<string, NodeInterface>()
  for (const policy of policies) {
    const spec = asRecord(policy['spec'])
    const selected = selectedNodes(asRecord(spec['nodeSelector']), nodes)
    for (const declared of asList(asRecord(spec['desiredState'])['interfaces'])) {
      const read = readInterface(asRecord(declared), selected)
      if (read) interfaces.set(read.name, mergeInterfaces(interfaces.get(read.name), read))
    }
  }
  return interfaces
}

/** The NIC below an interface, with the VLAN and the bridge between them. */
export interface Carrier {
  readonly nic: string
  readonly vlan: number | 'untagged'
  readonly bridge: string | undefined
  /** The name of the VLAN interface where it is not `nic.id`. */
  readonly interface: string | undefined
}

export function resolveCarrier(name: string, interfaces: NodeInterfaces, above?: string): Carrier {
  const known = interfaces.get(name)
  const port = known?.ports?.[0]
  if (port !== undefined && above === undefined) return resolveCarrier(port, interfaces, name)
  const [, usualBase, usualId] = /^(.+)\.(\d{1,4})$/.exec(name) ?? []
  const vlan = known?.vlan ?? (usualBase && usualId ? { base: usualBase, id: Number(usualId) } : undefined)
  if (!vlan) return { nic: name, vlan: 'untagged', bridge: above, interface: undefined }
  const usual = name === `${vlan.base}.${vlan.id}`
  return { nic: vlan.base, vlan: vlan.id, bridge: above, interface: usual ? undefined : name }
}

function selectedNodes(selector: Readonly<Record<string, unknown>>, nodes: readonly KubeObject[]): readonly string[] {
  const host = selector['kubernetes.io/hostname']
  if (typeof host === 'string') return [host]
  return nodes
    .filter(({ metadata }) => Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value))
    .map(({ metadata }) => metadata.name)
}

function readInterface(
  declared: Readonly<Record<string, unknown>>,
  nodes: readonly string[],
): NodeInterface | undefined {
  const name = asString(declared['name'])
  if (name === undefined || declared['state'] === 'absent') return undefined
  const vlan = asRecord(declared['vlan'])
  const id = asInteger(vlan['id'])
  const base = asString(vlan['base-iface'])
  const ports = asList(asRecord(declared['bridge'])['port']).flatMap((port) => asString(asRecord(port)['name']) ?? [])
  const addresses = ['ipv4', 'ipv6'].flatMap((family) =>
    asList(asRecord(declared[family])['address']).flatMap((address) => asStrings(asRecord(address)['ip'])),
  )
  return {
    name,
    ...(id !== undefined && base !== undefined && { vlan: { id, base } }),
    ...(ports.length > 0 && { ports }),
    mtu: asInteger(declared['mtu']),
    addresses: new Map(addresses.length > 0 ? nodes.map((node) => [node, addresses]) : []),
  }
}

/** Each node has its own policy; their declarations of one interface are merged. */
function mergeInterfaces(before: NodeInterface | undefined, next: NodeInterface): NodeInterface {
  if (!before) return next
  const addresses = new Map(before.addresses)
  for (const [node, all] of next.addresses) {
    addresses.set(node, [...new Set([...(addresses.get(node) ?? []), ...all])])
  }
  return { ...before, ...next, mtu: next.mtu ?? before.mtu, addresses }
}
