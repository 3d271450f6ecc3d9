/**
 * Imports the LoadBalancer Services of a cloud: the slot and the VIP of each, and the settings that the slots need.
 *
 * Facts of upstream: `plan/slots/service-names.ts` has the same names in the other direction.
 */
import { asList, asRecord, asStrings, isRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { serviceUnpinned } from './findings/existing.ts'

export interface ServiceSlot {
  /** The name below `vips`: `keystone.internal`. */
  readonly slot: string
  /** The name below `services`. */
  readonly service: string
  readonly isPublic: boolean
  /** Fields of the service's template that this slot needs. */
  readonly template?: Template
}

export type Template = Readonly<Record<string, unknown>>

/** APIs, by the name before `-internal` and `-public`. */
const apis: Readonly<Record<string, Omit<ServiceSlot, 'isPublic'>>> = {
  aodh: { slot: 'telemetry.aodh', service: 'telemetry', template: { autoscaling: { enabled: true } } },
  barbican: { slot: 'barbican', service: 'barbican' },
  cinder: { slot: 'cinder', service: 'cinder' },
  cloudkitty: {
    slot: 'telemetry.cloudkitty',
    service: 'telemetry',
    template: { cloudkitty: { enabled: true } },
  },
  designate: { slot: 'designate', service: 'designate' },
  'heat-api': { slot: 'heat', service: 'heat' },
  'heat-cfnapi': { slot: 'heat.cfn', service: 'heat' },
  ironic: { slot: 'ironic', service: 'ironic' },
  'ironic-inspector': { slot: 'ironic.inspector', service: 'ironic' },
  keystone: { slot: 'keystone', service: 'keystone' },
  manila: { slot: 'manila', service: 'manila' },
  neutron: { slot: 'neutron', service: 'neutron' },
  nova: { slot: 'nova', service: 'nova' },
  octavia: { slot: 'octavia', service: 'octavia' },
  placement: { slot: 'placement', service: 'placement' },
  swift: { slot: 'swift', service: 'swift' },
  watcher: { slot: 'watcher', service: 'watcher' },
}

/** Servers of designate, each with a Service per replica: the name in slots, and the part of the template. */
const designateServers: Readonly<Record<string, readonly [name: string, part: string]>> = {
  backendbind9: ['bind9', 'designateBackendbind9'],
  mdns: ['mdns', 'designateMdns'],
  unbound: ['unbound', 'designateUnbound'],
}

type Reader = (name: string) => ServiceSlot | undefined

/** The first match wins: `nova-metadata-internal` is not an API called `nova-metadata`. */
const readers: readonly Reader[] = [rabbitmq, single, novaOfCell, designateServer, glanceApi, api]

function findServiceSlot(name: string): ServiceSlot | undefined {
  for (const read of readers) {
    const found = read(name)
    if (found) return found
  }
  return undefined
}

/** Merges two templates; the greater of two numbers wins, since each replica sets its own count. */
function mergeTemplates(base: Template, other: Template): Template {
  const merged: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(other)) {
    const before = merged[key]
    if (isRecord(before) && isRecord(value)) merged[key] = mergeTemplates(before, value)
    else if (typeof before === 'number' && typeof value === 'number') merged[key] = Math.max(before, value)
    else merged[key] = value
  }
  return merged
}

function rabbitmq(name: string): ServiceSlot | undefined {
  const slot = rabbitmqSlot(name)
  return slot === undefined ? undefined : { slot, service: 'rabbitmq', isPublic: false }
}

function single(name: string): ServiceSlot | undefined {
  if (name === 'dnsmasq-dns') return { slot: 'dns', service: 'dns', isPublic: false }
  if (name === 'horizon') return { slot: 'horizon', service: 'horizon', isPublic: true }
  if (name === 'nova-metadata-internal') return { slot: 'nova.metadata', service: 'nova', isPublic: false }
  return undefined
}

function novaOfCell(name: string): ServiceSlot | undefined {
  const [, ofMetadata] = /^nova-metadata-(cell\w+)-internal$/.exec(name) ?? []
  if (ofMetadata !== undefined) {
    const template = { cellTemplates: { [ofMetadata]: { metadataServiceTemplate: { enabled: true } } } }
    return { slot: `nova.${ofMetadata}.metadata`, service: 'nova', isPublic: false, template }
  }
  const [, ofConsole] = /^nova-novncproxy-(cell\w+)-public$/.exec(name) ?? []
  return ofConsole === undefined ? undefined : { slot: `nova.${ofConsole}.novnc`, service: 'nova', isPublic: true }
}

function designateServer(name: string): ServiceSlot | undefined {
  const [, server = '', digits = ''] = /^designate-(\w+)-(\d{1,4})$/.exec(name) ?? []
  const known = Object.hasOwn(designateServers, server) ? designateServers[server] : undefined
  if (!known) return undefined
  const [slot, part] = known
  const replica = Number(digits)
  return {
    slot: `designate.${slot}.${replica}`,
    service: 'designate',
    isPublic: false,
    // One replica is the default.
    ...(replica > 0 && { template: { [part]: { replicas: replica + 1 } } }),
  }
}

function glanceApi(name: string): ServiceSlot | undefined {
  const [, each, face] = /^glance-(.+)-(internal|public)$/.exec(name) ?? []
  if (each === undefined) return undefined
  const template = { glanceAPIs: { [each]: {} } }
  return { slot: `glance.${each}.${face}`, service: 'glance', isPublic: face === 'public', template }
}

function api(name: string): ServiceSlot | undefined {
  const [, head = '', face] = /^(.+)-(internal|public)$/.exec(name) ?? []
  const known = Object.hasOwn(apis, head) ? apis[head] : undefined
  return known && { ...known, slot: `${known.slot}.${face}`, isPublic: face === 'public' }
}

/** By network for the APIs that share one, by its own name for a RabbitMQ. What has no slot is named in `others`. */
export function pinnedVips(found: ReadonlyMap<string, readonly string[]>): {
  readonly vips: Record<string, string | string[]>
  readonly others: readonly string[]
} {
  const vips: Record<string, string | string[]> = {}
  const others: string[] = []
  for (const [key, addresses] of found) {
    const slot = slotOf(key)
    const [first, ...more] = addresses
    if (slot === undefined) others.push(key)
    else if (first !== undefined) vips[slot] = more.length === 0 ? first : [first, ...more]
  }
  return { vips, others }
}

/** Every cloud has a keystone, and the APIs of a network share its address; ctlplane's is that of the DNS server. */
function slotOf(key: string): string | undefined {
  if (key === 'internalapi') return 'keystone.internal'
  if (key === 'ctlplane') return 'dns'
  return rabbitmqSlot(key)
}

/** The RabbitMQ of the cloud, or of a cell. */
function rabbitmqSlot(name: string): string | undefined {
  return /^rabbitmq(?:-cell\w+)?$/.test(name) ? `rabbitmq.${name}` : undefined
}

/** A Service of a cell means that the cell exists; every cloud has cell1. */
export function withCells(
  vips: Readonly<Record<string, unknown>>,
  services: NonNullable<SiteFileCloud['services']> = {},
): Pick<SiteFileCloud, 'services'> {
  const cells = Object.keys(vips).flatMap(
    (slot) => /^(?:rabbitmq\.rabbitmq-|nova\.)(cell\w+)(?:\.|$)/.exec(slot)?.[1] ?? [],
  )
  const all = [...new Set(['cell1', ...cells])].sort()
  const { nova } = services
  const settings = typeof nova === 'object' ? nova : {}
  const named = all.length > 1 ? { ...services, nova: { ...settings, cells: all } } : services
  return Object.keys(named).length > 0 ? { services: named } : {}
}

/** Services that every cloud has by default. */
const STANDARD = new Set(['keystone', 'placement', 'glance', 'neutron', 'nova', 'dns', 'rabbitmq'])

type Services = NonNullable<SiteFileCloud['services']>

export function importServices(
  services: readonly KubeObject[],
  findings: Finding[],
  /** The network that an address is in. */
  networkOf: (address: string) => string | undefined = () => undefined,
): Pick<SiteFileCloud, 'vips' | 'services' | 'public'> {
  const vips: Record<string, string | string[]> = {}
  const found: ServiceSlot[] = []
  let network: string | undefined
  for (const service of services) {
    const { name, namespace = '' } = service.metadata
    const addresses = addressesOf(service)
    const [first, ...more] = addresses
    if (asRecord(service['spec'])['type'] !== 'LoadBalancer' || first === undefined) continue
    const slot = findServiceSlot(name)
    if (slot === undefined) {
      const where = { apiVersion: 'v1', kind: 'Service', namespace, name }
      const facts = { service: `${namespace}/${name}`, address: addresses.join(', ') }
      findings.push(finding(serviceUnpinned, facts, { where }))
      continue
    }
    vips[slot.slot] = more.length === 0 ? first : [first, ...more]
    found.push(slot)
    if (slot.isPublic) network ??= networkOf(first)
  }
  const isPublic = found.some((serviceSlot) => serviceSlot.isPublic)
  return {
    ...withCells(vips, servicesOf(found)),
    // Without it public endpoints would be Routes on OpenShift, and VIPs on ctlplane elsewhere.
    ...(isPublic && { public: { by: 'vip', ...(network !== undefined && { network }) } }),
    ...(Object.keys(vips).length > 0 && { vips: sorted(vips) }),
  }
}

/** The services beyond the default ones, and the templates that the slots need. */
function servicesOf(found: readonly ServiceSlot[]): Services {
  const templates = new Map<string, Template>()
  for (const { service, template = {} } of found)
    templates.set(service, mergeTemplates(templates.get(service) ?? {}, template))
  const on: Record<string, Services[string]> = {}
  for (const [service, all] of templates) {
    const template = service === 'glance' ? glanceTemplate(all) : all
    if (Object.keys(template).length > 0) on[service] = { template }
    else if (!STANDARD.has(service)) on[service] = true
  }
  return sorted(on)
}

/** The default API needs no entry. */
function glanceTemplate(template: Template): Template {
  const names = Object.keys(asRecord(template['glanceAPIs']))
  return names.length === 1 && names[0] === 'default' ? {} : template
}

function addressesOf(service: KubeObject): readonly string[] {
  const ingress = asList(asRecord(asRecord(service['status'])['loadBalancer'])['ingress'])
  return ingress.flatMap((point) => asStrings(asRecord(point)['ip']))
}

function sorted<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => a.localeCompare(b)))
}
