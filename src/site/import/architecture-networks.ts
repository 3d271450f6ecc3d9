/** Reads the networks of a `network-values` file: interface, VLAN, bridge, attachment, subnets, addresses of nodes. Pure. */
import { asInteger, asList, asRecord, asString, asStrings, isRecord, type JsonRecord } from '../../api/json.ts'
import { type Finding, finding, type Where } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { NO_FIELD, type ValuesFile } from './architecture-values.ts'
import { type Attachment, importAttachment } from './attachment.ts'
import { badAttachment, valueLeftOut } from './findings/existing.ts'
import type { NicRoles } from './imported-site.ts'
import { type NetworkFacts, readNetConfigSubnet, type SubnetFacts } from './network-facts.ts'

const SETTINGS = new Set([
  'dns-resolver',
  'routes',
  'rabbitmq',
  'bgp',
  'loopback',
  'servers',
  'openstack-operator-image',
])

/** The keys of networks: values with subnets, an attachment, a pool or an interface. */
export function networkKeys(data: JsonRecord): readonly string[] {
  const parts = ['subnets', 'net-attach-def', 'lb_addresses', 'iface', 'base_iface']
  return Object.keys(data)
    .filter((key) => isRecord(data[key]) && !SETTINGS.has(key) && !key.startsWith('node_'))
    .filter((key) => parts.some((part) => part in asRecord(data[key])))
}

export function readNetworkFacts(file: ValuesFile, name: string, nics: NicRoles, findings: Finding[]): NetworkFacts {
  const network = asRecord(file.data[name])
  const where = file.reading.locate(['data', name])
  const attachment = readAttachment(file, name, network, where, findings)
  const base = asString(network['base_iface'])
  const iface = asString(network['iface'])
  const written = asInteger(network['vlan'])
  const tagged = base !== undefined || iface === undefined
  // A base interface without a VLAN is a port of the network's bridge.
  const vlan = tagged ? (written ?? (base === undefined ? undefined : 'untagged')) : 'untagged'
  if (!tagged && written !== undefined) {
    const facts = {
      what: `the VLAN ${written} of ${name}`,
      why: `its interface is ${iface} itself, not a VLAN on it`,
    }
    findings.push(finding(valueLeftOut, facts, { where: file.reading.locate(['data', name, 'vlan']) }))
  }
  const nic = nics.get(base ?? iface ?? '')
  const bridge = findBridge(file.data, name, attachment)
  return {
    name,
    vlan,
    nic: nic === 'main' ? undefined : nic,
    interface: vlanInterface(file, name, bridge, findings),
    bridge,
    attachment,
    mtu: asInteger(network['mtu']),
    dnsDomain: asString(network['dnsDomain']),
    subnets: readSubnets(file, name, typeof vlan === 'number' ? vlan : undefined, findings),
    vips: asStrings(network['lb_addresses']),
    nodes: nodeAddresses(file, name),
  }
}

function readAttachment(
  file: ValuesFile,
  name: string,
  network: JsonRecord,
  where: Where,
  findings: Finding[],
): Attachment | undefined {
  const config = network['net-attach-def']
  if (config === undefined || config === null) return undefined
  const { read, unread } = importAttachment(config)
  if (unread.length > 0) {
    const what = `data.${name}.net-attach-def: ${unread.join(', ')}`
    const position = file.reading.locate(['data', name, 'net-attach-def'])
    findings.push(finding(valueLeftOut, { what, why: NO_FIELD }, { where: position }))
  }
  const reason = typeof read === 'string' ? read : read.problem
  if (reason) findings.push(finding(badAttachment, { cloud: file.cloud.name, network: name, reason }, { where }))
  return typeof read === 'string' ? undefined : read
}

/** The attachment that uses a bridge names it; the bridge of ctlplane may also be named for the whole file. */
function findBridge(data: JsonRecord, name: string, attachment: Attachment | undefined): string | undefined {
  const networkBridge = asString(asRecord(data[name])['bridgeName'])
  if (networkBridge) return networkBridge
  const siteBridge = asString(data['bridgeName'])
  if (name === 'ctlplane') {
    const master = attachment?.master
    return attachment?.attach === 'bridge' || (siteBridge && master === siteBridge) ? master : siteBridge
  }
  if (name === 'datacentre') return undefined
  return attachment?.attach === 'bridge' ? attachment.master : undefined
}

/** A VLAN's interface on the nodes. The bridge on it may have the name of the network, and then the VLAN cannot. */
function vlanInterface(
  { data, reading }: ValuesFile,
  name: string,
  bridge: string | undefined,
  findings: Finding[],
): string | undefined {
  const network = asRecord(data[name])
  const iface = asString(network['iface'])
  if (asString(network['base_iface']) === undefined || iface === undefined || iface === bridge) return undefined
  if (iface.length <= MAX_INTERFACE_NAME) return iface
  const facts = { what: `the interface ${iface} of ${name}`, why: 'its name is longer than 15 characters' }
  findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data', name, 'iface']) }))
  return undefined
}

const MAX_INTERFACE_NAME = 15

/** The gateway and the prefix length of the network belong to one of its subnets. */
function readSubnets(
  { data, reading }: ValuesFile,
  name: string,
  vlan: number | undefined,
  findings: Finding[],
): readonly SubnetFacts[] {
  const network = asRecord(data[name])
  const subnets = asList(network['subnets']).flatMap((subnet) => readNetConfigSubnet(subnet, vlan) ?? [])
  const leaveOut = (key: string, why: string): void => {
    const where = reading.locate(['data', name, key])
    findings.push(finding(valueLeftOut, { what: `data.${name}.${key}`, why }, { where }))
  }
  const prefix = asInteger(network['prefix-length'])
  const prefixes = subnets.flatMap(({ cidr }) => parseCidr(cidr)?.prefix ?? [])
  if (prefix !== undefined && prefixes.length > 0 && !prefixes.includes(prefix))
    leaveOut('prefix-length', `its subnets have /${prefixes.join(', /')}`)
  const cidr = asString(network['cidr'])
  if (cidr !== undefined && !subnets.some((subnet) => subnet.cidr === cidr))
    leaveOut('cidr', 'it is not in its subnets')
  const gateway = asString(network['gateway'])
  if (gateway === undefined || subnets.some((subnet) => subnet.gateway === gateway)) return subnets
  const address = parseAddress(gateway)
  const home = subnets.find((subnet) => {
    const parsed = parseCidr(subnet.cidr)
    return subnet.gateway === undefined && address && parsed && cidrContains(parsed, address)
  })
  if (!home) leaveOut('gateway', 'no subnet of the network without a gateway has this address')
  return subnets.map((subnet) => (subnet === home ? { ...subnet, gateway } : subnet))
}

function nodeAddresses({ nodes }: ValuesFile, network: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    nodes.flatMap(({ name, data }) => {
      const addresses = asStrings(data[`${network}_ip`])
      return addresses.length > 0 ? [[name, addresses] as const] : []
    }),
  )
}
