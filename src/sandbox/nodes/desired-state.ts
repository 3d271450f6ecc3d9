/**
 * Translates the desired state of a policy into commands for the interfaces of a node, as far as the kernel of any machine
 * has them: a VLAN is a cable to the switch of its segment, a bond is a NIC. Pure.
 */
import { asInteger, asList, asRecord, asString, isRecord, type JsonRecord } from '../../api/json.ts'
import { inNetwork, type NodeLayout, type SandboxNode } from './node-layout.ts'
import { cableCommands, segmentBridge, segmentCommands } from './segment-switch.ts'

/** An interface that exists. */
export interface Link {
  readonly name: string
  /** The bridge of which it is a port. */
  readonly master?: string | undefined
  /** Addresses with prefix length that are not link-local. */
  readonly addresses: readonly string[]
}

export interface NodeState {
  readonly links: readonly Link[]
  /** Names of the bridges on the switch. */
  readonly bridges: readonly string[]
}

export interface Step {
  readonly command: readonly string[]
  /** Removes something that may not exist. */
  readonly mayFail?: boolean
}

export type Configuration =
  | { readonly kind: 'steps'; readonly steps: readonly Step[] }
  | { readonly kind: 'refused'; readonly reason: string }

type Interface = JsonRecord & { readonly name: string }

/** Interfaces before those that are built on them. */
const ORDER = ['ethernet', 'bond', 'vlan', 'linux-bridge']

export function configureInterfaces(
  layout: NodeLayout,
  node: SandboxNode,
  desired: JsonRecord,
  state: NodeState,
): Configuration {
  const interfaces = asList(desired['interfaces']).filter(isNamed)
  const ip = (...words: readonly string[]): readonly string[] => [...inNetwork(node.networkNamespace), 'ip', ...words]
  const context: Context = {
    layout,
    node,
    ip,
    links: state.links,
    present: new Set(state.links.map(({ name }) => name)),
    bridges: new Set(state.bridges),
  }
  const absent = interfaces.filter((iface) => iface['state'] === 'absent')
  const kept = interfaces.filter((iface) => !absent.includes(iface))
  const rank = (iface: Interface): number => ORDER.indexOf(asString(iface['type']) ?? '')
  const steps = absent.map(({ name }) => removalStep(name, context))
  for (const iface of kept.sort((first, second) => rank(first) - rank(second))) {
    const created = createInterface(iface, context)
    if (created.kind === 'refused') return created
    steps.push(...created.steps, ...settingSteps(iface, context))
  }
  steps.push(...routeSteps(desired, ip), ...ruleSteps(desired, ip))
  return { kind: 'steps', steps }
}

interface Context {
  readonly layout: NodeLayout
  readonly node: SandboxNode
  readonly ip: Ip
  readonly links: readonly Link[]
  /** Interfaces that exist after the steps so far. */
  readonly present: Set<string>
  readonly bridges: Set<string>
}

/** A NIC cannot be removed; it loses its addresses. */
function removalStep(name: string, { node, ip, present }: Context): Step {
  if (Object.values(node.nics).includes(name)) return { command: ip('address', 'flush', 'dev', name) }
  present.delete(name)
  return { command: ip('link', 'delete', name), mayFail: true }
}

function createInterface(iface: Interface, context: Context): Configuration {
  const { node, present } = context
  const { name } = iface
  const type = asString(iface['type']) ?? 'ethernet'
  if (type === 'vlan') return createVlan(iface, context)
  if (type === 'linux-bridge') return createBridge(iface, context)
  if (type !== 'ethernet' && type !== 'bond')
    return refuse(`the sandbox cannot create ${name}, an interface of type ${type}`)
  if (present.has(name)) return { kind: 'steps', steps: [] }
  return refuse(`interface ${name} does not exist; the NICs of the node are ${Object.values(node.nics).join(', ')}`)
}

function createVlan(iface: Interface, { layout, node, present, bridges }: Context): Configuration {
  const { name } = iface
  const settings = asRecord(iface['vlan'])
  const nic = asString(settings['base-iface']) ?? ''
  const on = Object.keys(node.nics).find((key) => node.nics[key] === nic)
  if (on === undefined) return refuse(`the base interface ${nic} of ${name} does not exist`)
  const segment = { on, vlan: asInteger(settings['id']) ?? 0 }
  const bridge = segmentBridge(layout, segment)
  const commands = [
    ...(bridges.has(bridge) ? [] : segmentCommands(layout, segment)),
    ...(present.has(name) ? [] : cableCommands(layout, node, segment, name)),
  ]
  bridges.add(bridge)
  present.add(name)
  return { kind: 'steps', steps: commands.map((command) => ({ command })) }
}

function createBridge(iface: Interface, { links, present, ip }: Context): Configuration {
  const { name } = iface
  const ports = asList(asRecord(iface['bridge'])['port'])
    .filter(isNamed)
    .map((port) => port.name)
  const missing = ports.find((port) => !present.has(port))
  if (missing !== undefined) return refuse(`the port ${missing} of bridge ${name} does not exist`)
  // Ports that the bridge plugin added for pods stay.
  const removed = links.filter(
    (link) => link.master === name && !ports.includes(link.name) && !link.name.startsWith('veth'),
  )
  const steps = [
    ...(present.has(name) ? [] : [{ command: ip('link', 'add', name, 'type', 'bridge') }]),
    ...ports.map((port) => ({ command: ip('link', 'set', port, 'master', name) })),
    ...removed.map((link) => ({ command: ip('link', 'set', link.name, 'nomaster') })),
  ]
  present.add(name)
  return { kind: 'steps', steps }
}

function settingSteps(iface: Interface, { links, ip }: Context): readonly Step[] {
  const { name } = iface
  const mtu = asInteger(iface['mtu'])
  const before = links.find((link) => link.name === name)?.addresses ?? []
  return [
    ...(mtu === undefined ? [] : [{ command: ip('link', 'set', name, 'mtu', String(mtu)) }]),
    { command: ip('link', 'set', name, iface['state'] === 'down' ? 'down' : 'up') },
    ...(['ipv4', 'ipv6'] as const).flatMap((family) => addressSteps(iface, family, before, ip)),
  ]
}

function refuse(reason: string): Configuration {
  return { kind: 'refused', reason }
}

function isNamed(value: unknown): value is Interface {
  return isRecord(value) && typeof value['name'] === 'string'
}

type Ip = (...words: readonly string[]) => readonly string[]

/** A family that the policy does not mention keeps its addresses. */
function addressSteps(iface: Interface, family: 'ipv4' | 'ipv6', before: readonly string[], ip: Ip): readonly Step[] {
  const settings = iface[family]
  if (!isRecord(settings)) return []
  const isSix = family === 'ipv6'
  const present = before.filter((address) => address.includes(':') === isSix)
  const wanted =
    settings['enabled'] === false
      ? []
      : asList(settings['address'])
          .filter(isRecord)
          .map((address) => `${asString(address['ip'])}/${asInteger(address['prefix-length'])}`)
  const change = (verb: string, address: string): readonly string[] => ip('address', verb, address, 'dev', iface.name)
  return [
    ...present
      .filter((address) => !wanted.includes(address))
      .map((address) => ({ command: change('delete', address) })),
    ...wanted
      .filter((address) => !present.includes(address))
      // The sandbox has no second owner of an address, and detection would delay it.
      .map((address) => ({ command: [...change('add', address), ...(isSix ? ['nodad'] : [])] })),
  ]
}

function routeSteps(desired: JsonRecord, ip: Ip): readonly Step[] {
  return asList(asRecord(desired['routes'])['config'])
    .filter(isRecord)
    .map((route) => {
      const isAbsent = route['state'] === 'absent'
      const type = asString(route['route-type'])
      const words = [
        ...(type === undefined ? [] : [type]),
        asString(route['destination']) ?? 'default',
        ...named('via', asString(route['next-hop-address'])),
        ...named('dev', asString(route['next-hop-interface'])),
        ...named('table', asInteger(route['table-id'])),
        ...named('metric', asInteger(route['metric'])),
      ]
      const family = words.some((word) => word.includes(':')) ? '-6' : '-4'
      return {
        command: ip(family, 'route', isAbsent ? 'delete' : 'replace', ...words),
        ...(isAbsent && { mayFail: true }),
      }
    })
}

/** Rules have no replace, so each is removed first. */
function ruleSteps(desired: JsonRecord, ip: Ip): readonly Step[] {
  return asList(asRecord(desired['route-rules'])['config'])
    .filter(isRecord)
    .flatMap((rule) => {
      const family = rule['family'] === 'ipv6' ? '-6' : '-4'
      const words = [
        ...named('iif', asString(rule['iif'])),
        ...named('from', asString(rule['ip-from'])),
        ...named('to', asString(rule['ip-to'])),
        ...named('lookup', asInteger(rule['route-table'])),
        ...named('priority', asInteger(rule['priority'])),
      ]
      const remove = { command: ip(family, 'rule', 'delete', ...words), mayFail: true }
      return rule['state'] === 'absent' ? [remove] : [remove, { command: ip(family, 'rule', 'add', ...words) }]
    })
}

function named(keyword: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [keyword, String(value)]
}
