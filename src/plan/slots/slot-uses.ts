/**
 * Lists the Services that will exist for a cloud, each with its slot, its network and the group that shares an address.
 *
 * The planner assigns a VIP to each of them; render writes it into the slot's path.
 */

import { groupBy } from '../../api/collections.ts'
import { type Finding, finding, type Where } from '../../errors/finding.ts'
import type { Cloud, CloudNetwork, Cluster } from '../../site/site.ts'
import { fieldHistory } from '../release/releases.ts'
import {
  type CloudService,
  cellNames,
  cloudServices,
  glanceApiNames,
  type LocatePath,
  rabbitmqNames,
  rawValue,
} from './cloud-services.ts'
import { publicByVip, routeWithoutOpenShift, slotMissing, slotWithoutVips } from './findings.ts'
import type { EndpointEntry, EndpointType } from './service-catalogue.ts'
import type { Slot, SlotTable, SlotUse } from './slots.ts'

export interface SlotUseInput {
  readonly cloud: Cloud
  readonly platform: Cluster['platform']
  readonly table: SlotTable
  readonly locate: LocatePath
}

export interface SlotUses {
  readonly uses: readonly SlotUse[]
  /** Every service that the CRD can switch, as the cloud has it. */
  readonly services: readonly CloudService[]
  readonly findings: readonly Finding[]
}

export function slotUses(input: SlotUseInput): SlotUses {
  const { cloud, table, locate } = input
  const { services, findings: serviceFindings } = cloudServices(cloud, table, locate)
  const findings: Finding[] = [...serviceFindings, ...publicFindings(input, services)]
  const uses: SlotUse[] = []
  for (const service of services) {
    if (!service.enabled || service.entry.endpoints.length === 0) continue
    const slots = table.slots.filter((slot) => slot.service === service.entry.name)
    for (const request of listRequests(service, input)) {
      const slot = slotFor(request, slots)
      if (slot) uses.push(toSlotUse(request, slot))
      else findings.push(missing(input, service, request))
    }
  }
  return { uses, services, findings: [...findings, ...unservedNetworks(cloud, uses, locate)] }
}

function missing(
  { cloud, locate }: SlotUseInput,
  { entry }: CloudService,
  { name, endpoint }: ServiceRequest,
): Finding {
  const where = locate([...cloud.path, 'services', entry.name])
  const releases = fieldHistory('OpenStackControlPlane', [...endpoint.path.split('.'), 'override'])
  return finding(slotMissing, { cloud: cloud.name, slot: name, path: endpoint.path, releases }, { where })
}

/** A Service that a cloud needs; the CRD may have no slot for it. */
interface ServiceRequest {
  readonly name: string
  readonly endpoint: EndpointEntry
  readonly face: EndpointType
  /** What `*` stands for: a cell, a glance API, a replica's number. */
  readonly each: string | undefined
  readonly network: string
  readonly alone: boolean
}

function listRequests(service: CloudService, input: SlotUseInput): readonly ServiceRequest[] {
  const { cloud } = input
  const requests: ServiceRequest[] = []
  for (const endpoint of service.entry.endpoints) {
    for (const [position, each] of listInstances(endpoint, cloud).entries()) {
      if (endpoint.when && !isOn(cloud, service.entry.name, endpoint.when, each)) continue
      for (const face of endpoint.types) {
        if (face === 'public' && publicBy(service, input) === 'route') continue
        requests.push({
          name: formatSlotName(endpoint, face, each),
          endpoint,
          face,
          each,
          network: chooseNetwork(service, endpoint, face, cloud),
          // Only the first glance API is the one that keystone knows; the others have the same port.
          alone: endpoint.alone ?? (endpoint.each === 'glance API' && position > 0),
        })
      }
    }
  }
  return requests
}

function listInstances(endpoint: EndpointEntry, cloud: Cloud): readonly (string | undefined)[] {
  if (endpoint.each === undefined) return [undefined]
  if (endpoint.each === 'cell') return cellNames(cloud)
  if (endpoint.each === 'rabbitmq') return rabbitmqNames(cloud)
  if (endpoint.each === 'glance API') return glanceApiNames(cloud)
  const [service = '', , ...path] = endpoint.path.split('.')
  const replicas = rawValue(cloud, service, [...path, 'replicas'])
  return Array.from({ length: typeof replicas === 'number' ? replicas : 1 }, (_, index) => String(index))
}

function isOn(cloud: Cloud, service: string, path: string, each: string | undefined): boolean {
  return rawValue(cloud, service, fillPath(path.split('.'), each)) === true
}

function formatSlotName(endpoint: EndpointEntry, face: EndpointType, each: string | undefined): string {
  const name = each === undefined ? endpoint.name : endpoint.name.replace('*', each)
  return endpoint.types.length > 1 ? `${name}.${face}` : name
}

function chooseNetwork(service: CloudService, endpoint: EndpointEntry, face: EndpointType, cloud: Cloud): string {
  if (face === 'public') return publicNetwork(cloud)
  // The setting is for the API of the service; a Service per replica stays on its network.
  if (endpoint.each === 'replica') return endpoint.network ?? 'internalapi'
  return service.settings.network ?? endpoint.network ?? 'internalapi'
}

/** The network of public VIPs: as the site file has it, or the one that all clients reach. */
function publicNetwork(cloud: Cloud): string {
  return cloud.file.public?.network ?? 'ctlplane'
}

/** How the public endpoint of a service is reached: only OpenShift has Routes. */
function publicBy(service: CloudService, { cloud, platform }: SlotUseInput): 'route' | 'vip' {
  return service.settings.public ?? cloud.file.public?.by ?? (platform === 'openshift' ? 'route' : 'vip')
}

/** The slot of an endpoint, among those of its service. */
function slotFor({ endpoint, face }: ServiceRequest, slots: readonly Slot[]): Slot | undefined {
  const old = endpoint.in2023?.[face] ?? endpoint.path
  const find = (path: string): Slot | undefined => slots.find((slot) => slot.path.join('.') === path)
  // A CRD of 2023 has RabbitMQ's `override.service` too, but its operator reads the external endpoint.
  const external = slots.some((slot) => slot.shape.startsWith('external-'))
  return (
    (external ? (find(`${old}.externalEndpoints`) ?? find(`${old}.externalEndpoint`)) : undefined) ??
    find(`${endpoint.path}.override.service`) ??
    find(`${endpoint.path}.override.services`) ??
    find(`${endpoint.path}.annotations`)
  )
}

function toSlotUse({ name, face, each, network, alone }: ServiceRequest, slot: Slot): SlotUse {
  const path = fillPath(slot.path, each)
  const last = { endpoints: [face], 'external-endpoints': [face], list: [each ?? '0'] }
  const step = last[slot.shape as keyof typeof last] ?? []
  return { name, slot, path: [...path, ...step], network, alone, group: face }
}

function fillPath(path: readonly string[], each: string | undefined): readonly string[] {
  return path.map((step) => (step === '*' ? (each ?? step) : step))
}

function unservedNetworks(cloud: Cloud, uses: readonly SlotUse[], locate: LocatePath): readonly Finding[] {
  const unserved = uses.filter((use) => !givesVips(cloud.networks.find(({ name }) => name === use.network)))
  return [...groupBy(unserved, ({ network }) => network)].map(([network, slots]) => {
    const where: Where | undefined = locate([...cloud.path, 'networks', network]) ?? locate(cloud.path)
    return finding(slotWithoutVips, { cloud: cloud.name, slots: slots.map(({ name }) => name), network }, { where })
  })
}

/** Whether a network has the role, by its template or by its spans; a subnet without spans gets them by the layout. */
export function givesVips(network: CloudNetwork | undefined): boolean {
  if (!network) return false
  const { roles, subnets } = network.settings
  if (roles) return roles.includes('vips')
  return subnets?.some(({ spans }) => !spans || spans.vips !== undefined) ?? true
}

function publicFindings(input: SlotUseInput, services: readonly CloudService[]): readonly Finding[] {
  const { cloud, platform, locate } = input
  if (platform === 'openshift') return []
  const exposed = services.filter(
    ({ enabled, entry }) => enabled && entry.endpoints.some(({ types }) => types.includes('public')),
  )
  const byRoute = exposed.filter((service) => publicBy(service, input) === 'route')
  const refused = byRoute.map((service) => {
    const servicePath = ['services', service.entry.name, 'public']
    const where = locate([...cloud.path, ...(service.settings.public ? servicePath : ['public', 'by'])])
    return finding(routeWithoutOpenShift, { cloud: cloud.name, service: service.entry.name }, { where })
  })
  if (cloud.file.public || exposed.length === byRoute.length) return refused
  const facts = { cloud: cloud.name, network: publicNetwork(cloud) }
  return [...refused, finding(publicByVip, facts, { where: locate(cloud.path) })]
}
