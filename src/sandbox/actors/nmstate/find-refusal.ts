/**
 * Decides whether nmstate 2.2 refuses a desired state on a node: what its own checks refuse, and what a kernel does not
 * enact. The messages are those of nmstate. Pure; `nmstate-checks.test.ts` and `nmstate-actor.test.ts` in
 * `test/real/rehearse` compare it with nmstate.
 */
import { isRecord } from '../../../api/json.ts'
import { applyDesiredState, type Interface, listPorts, type NetworkState } from './enactments.ts'

export interface NodeInventory {
  /** NICs of the node; undefined: a NIC that no policy describes is assumed to exist. */
  readonly nics?: readonly string[] | undefined
}

interface View {
  readonly desired: readonly Interface[]
  readonly current: ReadonlyMap<string, Interface>
  /** What the node has when the desired state is enacted. */
  readonly after: ReadonlyMap<string, Interface>
  readonly hasNic: (name: string) => boolean
  readonly knowsNics: boolean
  readonly state: NetworkState
}

type Rule = (view: View) => string | undefined

/** The first reason; undefined where the state is enacted. */
export function findRefusal(
  before: NetworkState,
  state: NetworkState,
  { nics }: NodeInventory = {},
): string | undefined {
  const desired = state.interfaces ?? []
  const enacted = applyDesiredState(before, state).interfaces ?? []
  const view: View = {
    desired,
    current: byName(before.interfaces ?? []),
    after: byName(enacted),
    hasNic: (name) => nics === undefined || nics.includes(name),
    knowsNics: nics !== undefined,
    state,
  }
  for (const rule of rules) {
    const reason = rule(view)
    if (reason !== undefined) return reason.startsWith(UNREADABLE) ? reason : `NmstateError: ${reason}`
  }
  return undefined
}

/** What nmstatectl says about a file that is no state. */
const UNREADABLE = 'Provide file is not valid NetworkState or NetworkPolicy'

function byName(interfaces: readonly Interface[]): ReadonlyMap<string, Interface> {
  return new Map(interfaces.map((iface) => [iface.name, iface]))
}

/** A rule for each interface that is to be up. */
function forEachUp(judge: (iface: Interface, view: View) => string | undefined): Rule {
  return (view) => {
    for (const iface of view.desired) {
      const reason = isAbsent(iface) ? undefined : judge(iface, view)
      if (reason !== undefined) return reason
    }
    return undefined
  }
}

const knownFields: Readonly<Record<string, readonly string[]>> = {
  vlan: ['base-iface', 'id', 'protocol', 'registration-protocol', 'reorder-headers', 'loose-binding'],
  ipv4: ['enabled', 'dhcp', 'address', 'auto-dns', 'auto-gateway', 'auto-routes', 'auto-route-table-id', 'forwarding'],
  ipv6: ['enabled', 'dhcp', 'autoconf', 'address', 'auto-dns', 'auto-gateway', 'auto-routes', 'addr-gen-mode'],
  'link-aggregation': ['mode', 'port', 'ports-config', 'options'],
}

const commonFields = ['name', 'type', 'state', 'description', 'mtu', 'min-mtu', 'max-mtu', 'mac-address', 'controller']
const otherSections = [
  'profile-name',
  'identifier',
  'ethernet',
  'ethtool',
  'lldp',
  'bridge',
  'wait-ip',
  'accept-all-mac-addresses',
]
const interfaceFields = new Set([...commonFields, ...otherSections, ...Object.keys(knownFields)])

const unknownField = forEachUp((iface) => {
  const unknown =
    Object.keys(iface).find((field) => !interfaceFields.has(field)) ??
    Object.entries(knownFields).flatMap(([section, fields]) => {
      const value = iface[section]
      return isRecord(value) ? Object.keys(value).filter((field) => !fields.includes(field)) : []
    })[0]
  return unknown === undefined ? undefined : `${UNREADABLE}: interfaces: unknown field \`${unknown}\``
})

/** The kernel's own limit for names. */
const longName = forEachUp(({ name }) =>
  name.length > 15 ? `InvalidArgument: Interface name ${name} is longer than 15 characters` : undefined,
)

const wrongVlan = forEachUp((iface, view) => {
  if (iface['type'] !== 'vlan') return undefined
  const { 'base-iface': base, id } = section(view.after.get(iface.name), 'vlan')
  if (typeof base !== 'string') return `InvalidArgument: Missing 'vlan.base-iface' for interface '${iface.name}'`
  const number = Number(id)
  if (!Number.isInteger(number) || number < 0 || number > 4094) {
    return `InvalidArgument: Connection(InvalidProperty):vlan.id: value "${String(id)}" of type "guint" is invalid or out of range for property 'id' of type 'guint'`
  }
  if (!exists(base, view)) {
    return 'Bug: Manager(UnknownDevice): Failed to find a compatible device for this connection'
  }
  const twin = [...view.after.values()].find(
    (other) =>
      other.name !== iface.name &&
      other['type'] === 'vlan' &&
      section(other, 'vlan')['base-iface'] === base &&
      Number(section(other, 'vlan')['id']) === number,
  )
  return twin && `Bug: Device(CreationFailed): Failed to create VLAN interface '${iface.name}': File exists`
})

const missingNic = forEachUp(({ name, type }, { hasNic, current }) =>
  type === 'ethernet' && !hasNic(name) && !current.has(name)
    ? 'Bug: Manager(UnknownDevice): Failed to find a compatible device for this connection'
    : undefined,
)

const parentAbsent = forEachUp((iface, { desired, after }) => {
  const base = section(after.get(iface.name), 'vlan')['base-iface']
  const parent = desired.find(({ name, state }) => name === base && state === 'absent')
  return parent && parent['type'] !== 'ethernet'
    ? `InvalidArgument: Interface ${iface.name} cannot be in up state as its parent ${parent.name} has been marked as absent`
    : undefined
})

/** A VLAN cannot be larger than the interface below. */
const largeMtu = forEachUp((iface, { after, knowsNics }) => {
  const mtu = Number(iface['mtu'] ?? 0)
  const base = after.get(String(section(after.get(iface.name), 'vlan')['base-iface']))
  if (iface['type'] !== 'vlan' || (!base && !knowsNics)) return undefined
  const limit = Number(base?.['mtu'] ?? DEFAULT_MTU)
  if (mtu <= limit) return undefined
  return `VerificationError: Verification failure: ${iface.name}.interface.mtu desire '${mtu}', current '${limit}'`
})

const DEFAULT_MTU = 1500
const MINIMUM_IPV6_MTU = 1280

const smallMtu = forEachUp((iface) => {
  const mtu = Number(iface['mtu'] ?? DEFAULT_MTU)
  if (section(iface, 'ipv6')['enabled'] !== true || mtu >= MINIMUM_IPV6_MTU) return undefined
  return `InvalidArgument: MTU should be >= ${MINIMUM_IPV6_MTU} when IPv6 is enabled on interface ${iface.name}, but got mtu: ${mtu}`
})

const families = [
  { name: 'ipv4', other: 'IPv6', bits: 32, isOther: (ip: string) => ip.includes(':') },
  { name: 'ipv6', other: 'IPv4', bits: 128, isOther: (ip: string) => !ip.includes(':') },
] as const

const wrongAddress = forEachUp((iface) => {
  for (const { name, other, bits, isOther } of families) {
    const { address } = section(iface, name)
    for (const entry of Array.isArray(address) ? address.filter(isRecord) : []) {
      const [ip, length] = [String(entry['ip']), Number(entry['prefix-length'])]
      if (isOther(ip)) return `InvalidArgument: Got ${other} address ${ip}/${length} in ${name} config section`
      if (!(length >= 0 && length <= bits)) {
        return `InvalidArgument: Invalid ${name === 'ipv4' ? 'IPv4' : 'IPv6'} network prefix length '${length}', should be in the range of 0 to ${bits}`
      }
    }
  }
  return undefined
})

const wrongPorts: Rule = (view) => {
  const holders = new Map<string, string>()
  for (const iface of view.desired.filter((wanted) => !isAbsent(wanted))) {
    for (const port of listPorts(iface)) {
      const holder = holders.get(port)
      if (holder !== undefined) {
        return `InvalidArgument: Port ${port} is overbooked by two controller: ${iface.name}, ${holder}`
      }
      holders.set(port, iface.name)
      if (!exists(port, view)) {
        return `InvalidArgument: Controller interface ${iface.name} is holding unknown port ${port}`
      }
    }
  }
  return undefined
}

/** A port of a bridge or bond has no addresses of its own. */
const portWithAddresses = forEachUp((iface, { after }) => {
  const hasAddresses = families.some(({ name }) => section(iface, name)['enabled'] === true)
  const controller = [...after.values()].find((other) => listPorts(other).includes(iface.name))
  return hasAddresses && controller
    ? `InvalidArgument: Interface ${iface.name} cannot have IP enabled as it is attached to controller ${controller.name} where IP is not allowed on its port`
    : undefined
})

const missingMode = forEachUp((iface, { after }) =>
  iface['type'] === 'bond' && section(after.get(iface.name), 'link-aggregation')['mode'] === undefined
    ? `InvalidArgument: Bond mode is mandatory for new bond interface: ${iface.name}`
    : undefined,
)

const wrongRoute: Rule = ({ state, desired, after }) => {
  for (const route of configured(state['routes'])) {
    const hop = route['next-hop-interface']
    if (route['state'] === 'absent' || typeof hop !== 'string') continue
    const text = `destination: ${String(route['destination'])} next-hop-interface: ${hop}`
    const marked = (what: string): string =>
      `InvalidArgument: The next hop interface of desired Route '${text}' has been marked as ${what}`
    if (desired.some((iface) => iface.name === hop && isAbsent(iface))) return marked('absent')
    const family = String(route['destination']).includes(':') ? 'ipv6' : 'ipv4'
    const iface = after.get(hop)
    if (!iface) return `InvalidArgument: Route '${text}': next hop interface ${hop} not found`
    if (section(iface, family)['enabled'] !== true) {
      return marked(`${family === 'ipv6' ? 'IPv6' : 'IPv4'} disabled`)
    }
  }
  return undefined
}

const wrongRule: Rule = (view) => {
  for (const rule of configured(view.state['route-rules'])) {
    const { iif, family, priority, 'route-table': table } = rule
    if (rule['state'] !== 'absent' && typeof iif === 'string' && !exists(iif, view)) {
      return `InvalidArgument: The interface ${iif} required by route rule family: ${String(family)} priority: ${String(priority)} route-table: ${String(table)} iif: ${iif} does not exists`
    }
    const isEmpty = ['ip-from', 'ip-to', 'family'].every((field) => rule[field] === undefined)
    if (rule['state'] !== 'absent' && isEmpty) return "InvalidArgument: Neither ip-from, ip-to nor family is defined ''"
  }
  return undefined
}

/** In the order in which nmstate finds them. */
const rules: readonly Rule[] = [
  unknownField,
  wrongAddress,
  smallMtu,
  longName,
  missingMode,
  wrongPorts,
  portWithAddresses,
  parentAbsent,
  wrongRoute,
  wrongRule,
  missingNic,
  wrongVlan,
  largeMtu,
]

function isAbsent({ state }: Interface): boolean {
  return state === 'absent'
}

function exists(name: string, { after, hasNic, desired }: View): boolean {
  // A NIC that is set absent loses its settings and stays.
  return (
    after.has(name) || (hasNic(name) && !desired.some((iface) => iface.name === name && iface['type'] !== 'ethernet'))
  )
}

function section(iface: Interface | undefined, name: string): Readonly<Record<string, unknown>> {
  const value = iface?.[name]
  return isRecord(value) ? value : {}
}

function configured(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  const config = isRecord(value) ? value['config'] : undefined
  return Array.isArray(config) ? config.filter(isRecord) : []
}
