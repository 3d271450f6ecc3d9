/** LoadBalancer Services of a cloud that exists: which slot each belongs to, and the VIP that it has. */
import type { KubeObject } from '../../api/object.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { serviceUnpinned } from '../../errors/import-existing.ts'
import { listOf, recordOf, textsOf } from '../../yaml/loose.ts'
import { rabbitmqSlot, withCells } from './pinned-vips.ts'

/** Services that every cloud has without being asked. */
const STANDARD = new Set(['keystone', 'placement', 'glance', 'neutron', 'nova', 'dns', 'rabbitmq'])
const OPTIONAL = [
  'swift',
  'cinder',
  'barbican',
  'heat',
  'manila',
  'designate',
  'octavia',
  'ironic',
  'aodh',
  'watcher',
]

export function importServices(
  services: readonly KubeObject[],
  findings: Finding[],
): Pick<SiteFileCloud, 'vips' | 'services'> {
  const vips: Record<string, string | string[]> = {}
  const on: Record<string, boolean> = {}
  for (const service of services) {
    const { name, namespace = '' } = service.metadata
    const addresses = addressesOf(service)
    const [first, ...more] = addresses
    if (recordOf(service['spec'])['type'] !== 'LoadBalancer' || first === undefined) continue
    const slot = slotOf(name)
    if (slot === undefined) {
      const where = { apiVersion: 'v1', kind: 'Service', namespace, name }
      const facts = { service: `${namespace}/${name}`, address: addresses.join(', ') }
      findings.push(finding(serviceUnpinned, facts, { where }))
      continue
    }
    vips[slot] = more.length === 0 ? first : [first, ...more]
    const owner = slot.split('.')[0] ?? ''
    if (!STANDARD.has(owner)) on[owner] = true
  }
  return {
    ...withCells(vips, sorted(on)),
    ...(Object.keys(vips).length > 0 && { vips: sorted(vips) }),
  }
}

function slotOf(name: string): string | undefined {
  const rabbitmq = rabbitmqSlot(name)
  if (rabbitmq) return rabbitmq
  if (name === 'dnsmasq-dns') return 'dns'
  const [, head, face] = /^(.+)-(internal)$/.exec(name) ?? []
  if (head === undefined) return undefined
  const [, api] = /^glance-(.+)$/.exec(head) ?? []
  if (api !== undefined) return `glance.${api}.${face}`
  return STANDARD.has(head) || OPTIONAL.includes(head) ? `${head}.${face}` : undefined
}

function addressesOf(service: KubeObject): readonly string[] {
  const ingress = listOf(recordOf(recordOf(service['status'])['loadBalancer'])['ingress'])
  return ingress.flatMap((one) => textsOf(recordOf(one)['ip']))
}

function sorted<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => a.localeCompare(b)))
}
