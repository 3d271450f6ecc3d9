/**
 * Which slot of a cloud a running Service belongs to, by the name that its operator gave it, and what the site file
 * must say for the cloud to have that slot. Facts of upstream; the planner knows them the other way round.
 */
import { isRecord } from '../../api/json.ts'
import { rabbitmqSlot } from './pinned-vips.ts'

export interface ServiceSlot {
  /** The name below `vips`: `keystone.internal`. */
  readonly slot: string
  /** The name below `services`. */
  readonly service: string
  readonly isPublic: boolean
  /** Fields of the service's template without which it would not have this slot. */
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

/** The first that knows the name is right: `nova-metadata-internal` is no API called `nova-metadata`. */
const readers: readonly Reader[] = [rabbitmq, single, novaOfCell, designateServer, glanceApi, api]

export function findServiceSlot(name: string): ServiceSlot | undefined {
  for (const read of readers) {
    const found = read(name)
    if (found) return found
  }
  return undefined
}

/** Both together; of two numbers the greater one, since replicas are counted one by one. */
export function mergeTemplates(one: Template, other: Template): Template {
  const merged: Record<string, unknown> = { ...one }
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
    // One is what there is anyway.
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
