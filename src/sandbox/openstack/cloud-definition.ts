/** Defines what runs behind one OpenStackControlPlane: services, cells, addresses, names and catalogue. Pure. */
import { asRecord, asString, isRecord } from '../../api/json.ts'
import { isLabelValue } from '../../api/label-value.ts'
import type { KubeObject } from '../../api/object.ts'
import { getList, getString } from '../../api/raw-object.ts'
import { type Address, formatAddress, parseAddress } from '../../net/address.ts'
import { type Cidr, cidrContaining, cidrContains, parseCidr, usableRange } from '../../net/cidr.ts'
import { buildCatalogue } from '../actors/openstack/catalogue.ts'
import { serviceForSlot } from '../actors/openstack/service-names.ts'
import type { OverrideSlot } from '../actors/openstack/spec-schema.ts'

/** Services of a control plane that run, with the type under which keystone lists each. */
const realServices: Readonly<Record<string, string>> = {
  keystone: 'identity',
  placement: 'placement',
  glance: 'image',
  neutron: 'network',
  nova: 'compute',
}

/** What these services are made of; it runs with them and has no entry in the catalogue. */
const realParts = ['galera', 'rabbitmq', 'memcached', 'ovn']

/** One L2 segment of a cloud, with the addresses that its control host has there. */
export interface CloudNetwork {
  readonly name: string
  readonly prefixLength: number
  readonly addresses: readonly string[]
  /** Held by no service, node or host. */
  readonly clientAddress: string
}

/** Where a Service is reached from outside of the control host: its VIP and port, and the local port behind it. */
export interface Frontend {
  readonly address: string
  readonly port: number
  readonly localPort: number
  readonly mode: 'http' | 'tcp'
}

export interface CatalogueEntry {
  readonly service: string
  readonly type: string
  /** By interface: `internal`, `public`. */
  readonly urls: Readonly<Record<string, string>>
}

export interface CloudDefinition {
  readonly namespace: string
  /** Its name in the site file, or the namespace. */
  readonly cloud: string
  /** Whether services are reached by HTTPS. */
  readonly tls: boolean
  /** Keys of `realServices`. */
  readonly services: readonly string[]
  /** Enabled parts of the control plane that do not run. */
  readonly simulated: readonly string[]
  /** Without cell0. */
  readonly cells: readonly string[]
  readonly networks: readonly CloudNetwork[]
  readonly frontends: readonly Frontend[]
  /** Public Services without a VIP, by the host of their Route. */
  readonly routes: readonly { readonly host: string; readonly localPort: number }[]
  /** Names of Services and Routes; a Service without a VIP is known on the control host only. */
  readonly names: readonly { readonly name: string; readonly address: string | undefined }[]
  readonly catalogue: readonly CatalogueEntry[]
  /** By key of the Secret of the control plane. */
  readonly passwords: Readonly<Record<string, string>>
}

export interface CloudInput {
  readonly controlPlane: KubeObject
  readonly slots: readonly OverrideSlot[]
  /** Those of the control plane, with their addresses. */
  readonly services: readonly KubeObject[]
  readonly secret: KubeObject
  readonly netConfigs: readonly KubeObject[]
  /** The domain of Routes. */
  readonly domain: string
  readonly tls: boolean
}

export function defineCloud(input: CloudInput): CloudDefinition {
  const { controlPlane, slots, services, domain, tls } = input
  const { namespace = '' } = controlPlane.metadata
  const enabled = [...new Set(slots.map(({ path }) => path[0] ?? ''))]
  const exposed = describeExposed(slots, services, tls)
  const addresses = [...new Set(exposed.flatMap((service) => service.addresses))]
  const { urls, routes } = describeUrls(input)
  return {
    namespace,
    cloud: controlPlane.metadata.labels?.['stackloom.dev/cloud'] ?? namespace,
    tls,
    services: Object.keys(realServices).filter((name) => enabled.includes(name)),
    simulated: enabled.filter((name) => !(name in realServices) && !realParts.includes(name)),
    cells: listCells(controlPlane),
    networks: describeNetworks(addresses, input.netConfigs),
    frontends: exposed.flatMap((service) => service.frontends),
    routes,
    names: [
      ...exposed.map(({ name, addresses: [first] }) => ({ name: `${name}.${namespace}.svc`, address: first })),
      ...routes.map(({ host }) => ({ name: host, address: addresses[0] })),
    ],
    catalogue: Object.entries(realServices).flatMap(([service, type]) => {
      const found = urls.get(service)
      return found && enabled.includes(service) ? [{ service, type, urls: found }] : []
    }),
    passwords: decodeSecret(input.secret),
  }

  function describeUrls(from: CloudInput) {
    const { endpoints } = buildCatalogue(from.slots, namespace, from.services, domain)
    const byService = new Map<string, Readonly<Record<string, string>>>()
    for (const endpoint of endpoints) {
      const { serviceName, endpoints: listed } = endpoint['spec'] as { serviceName: string; endpoints: object }
      byService.set(serviceName, withScheme(listed as Record<string, string>, tls))
    }
    // Keystone registers itself, so it is not among the KeystoneEndpoints.
    const keystone = (face: string): string => hostOf(`keystone-${face}`, 5000, from, face === 'public')
    byService.set(
      'keystone',
      withScheme({ internal: `https://${keystone('internal')}`, public: `https://${keystone('public')}` }, tls),
    )
    const hosts = from.slots.flatMap((slot) => {
      const service = serviceForSlot(slot)
      const isPublic = slot.endpoint === 'public' && (slot.path[0] ?? '') in realServices
      if (!service || !isPublic || isLoadBalancer(service.name, from.services)) return []
      return [{ host: `${service.name}-${namespace}.${domain}`, localPort: service.ports[0] ?? 0 }]
    })
    return { urls: byService, routes: hosts }
  }

  function hostOf(service: string, port: number, from: CloudInput, isPublic: boolean): string {
    if (isPublic && !isLoadBalancer(service, from.services)) return `${service}-${namespace}.${from.domain}`
    return `${service}.${namespace}.svc:${port}`
  }
}

function isLoadBalancer(name: string, services: readonly KubeObject[]): boolean {
  const service = services.find(({ metadata }) => metadata.name === name)
  return service !== undefined && getString(service, 'spec', 'type') === 'LoadBalancer'
}

function withScheme(urls: Readonly<Record<string, string>>, tls: boolean): Readonly<Record<string, string>> {
  const scheme = (url: string): string => (tls ? url : url.replace(/^https:/, 'http:'))
  return Object.fromEntries(Object.entries(urls).map(([face, url]) => [face, scheme(url)]))
}

interface ExposedService {
  readonly name: string
  readonly addresses: readonly string[]
  readonly frontends: readonly Frontend[]
}

const AMQP = 5672
const AMQP_TLS = 5671

function describeExposed(
  slots: readonly OverrideSlot[],
  services: readonly KubeObject[],
  tls: boolean,
): readonly ExposedService[] {
  return slots.flatMap((slot) => {
    const [kind = ''] = slot.path
    const named = serviceForSlot(slot)
    const runs = kind in realServices || kind === 'rabbitmq' || kind === 'dns'
    const service = services.find(({ metadata }) => metadata.name === named?.name)
    if (!named || !service || !runs) return []
    const addresses = getList(service, 'status', 'loadBalancer', 'ingress').flatMap(
      (ingress) => getString(ingress, 'ip') ?? [],
    )
    const isQueue = kind === 'rabbitmq'
    const ports = isQueue
      ? [tls ? AMQP_TLS : AMQP]
      : kind === 'dns' || named.name.includes('novncproxy')
        ? []
        : named.ports
    const frontends = addresses.flatMap((address) =>
      ports.map((port): Frontend => {
        return { address, port, localPort: isQueue ? AMQP : port, mode: isQueue ? 'tcp' : 'http' }
      }),
    )
    return [{ name: named.name, addresses, frontends }]
  })
}

/** A name is a part of paths, of databases and of lines: any other text is none. */
function listCells({ spec }: KubeObject): readonly string[] {
  const template = asRecord(asRecord(asRecord(spec)['nova'])['template'])
  const cells = Object.keys(asRecord(template['cellTemplates'])).filter(
    (name) => name !== 'cell0' && isLabelValue(name),
  )
  return cells.length > 0 ? cells : ['cell1']
}

interface Subnet {
  readonly network: string
  readonly cidr: Cidr
}

/** The size of a subnet that no NetConfig has. */
const ASSUMED_PREFIX = 24

function describeNetworks(addresses: readonly string[], netConfigs: readonly KubeObject[]): readonly CloudNetwork[] {
  const subnets = netConfigs.flatMap(listSubnets)
  const bySubnet = new Map<string, { readonly subnet: Subnet; readonly held: string[] }>()
  for (const text of addresses) {
    const address = parseAddress(text)
    if (!address) continue
    const subnet = subnets.find(({ cidr }) => cidrContains(cidr, address)) ?? assumeSubnet(address, bySubnet.size)
    const key = `${subnet.network} ${subnet.cidr.base}`
    const found = bySubnet.get(key) ?? { subnet, held: [] }
    found.held.push(text)
    bySubnet.set(key, found)
  }
  return [...bySubnet.values()].map(({ subnet: { network, cidr }, held }) => ({
    name: network,
    prefixLength: cidr.prefix,
    addresses: held,
    clientAddress: formatAddress({ family: cidr.family, value: usableRange(cidr).last }),
  }))
}

function assumeSubnet(address: Address, index: number): Subnet {
  const prefix = address.family === 4 ? ASSUMED_PREFIX : 64
  return { network: `vips${index}`, cidr: cidrContaining(address, prefix) }
}

function listSubnets(netConfig: KubeObject): readonly Subnet[] {
  return getList(netConfig, 'spec', 'networks').flatMap((network) =>
    getList(network, 'subnets').flatMap((subnet) => {
      const cidr = parseCidr(getString(subnet, 'cidr') ?? '')
      return cidr ? [{ network: getString(network, 'name') ?? '', cidr }] : []
    }),
  )
}

export function decodeSecret(secret: KubeObject): Readonly<Record<string, string>> {
  const data = secret['data']
  if (!isRecord(data)) return {}
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(asString(value) ?? '', 'base64').toString('utf8')]),
  )
}
