/** LoadBalancer Services of a cloud that exists: which slot each belongs to, and the VIP that it has. */

import { asList, asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { serviceUnpinned } from './findings/existing.ts'
import { withCells } from './pinned-vips.ts'
import { findServiceSlot, mergeTemplates, type ServiceSlot, type Template } from './service-slots.ts'

/** Services that every cloud has without being asked. */
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
    // Without it public endpoints of an OpenShift would be Routes, and those of others on ctlplane.
    ...(isPublic && { public: { by: 'vip', ...(network !== undefined && { network }) } }),
    ...(Object.keys(vips).length > 0 && { vips: sorted(vips) }),
  }
}

/** What is on beside the standard set, and what the templates must say for every slot to be there. */
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

/** The one API that every cloud has need not be named. */
function glanceTemplate(template: Template): Template {
  const names = Object.keys(asRecord(template['glanceAPIs']))
  return names.length === 1 && names[0] === 'default' ? {} : template
}

function addressesOf(service: KubeObject): readonly string[] {
  const ingress = asList(asRecord(asRecord(service['status'])['loadBalancer'])['ingress'])
  return ingress.flatMap((one) => asStrings(asRecord(one)['ip']))
}

function sorted<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => a.localeCompare(b)))
}
