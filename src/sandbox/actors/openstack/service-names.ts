/** Maps slots to the names and ports of the Services that the upstream operators create. */
import type { OverrideSlot } from './spec-schema.ts'

interface NamedService {
  readonly name: string
  readonly ports: readonly number[]
}

/** By path; `*` matches a name from the control plane, which becomes part of the Service name. */
const table: Readonly<Record<string, NamedService>> = {
  'barbican.template.barbicanAPI': { name: 'barbican', ports: [9311] },
  'cinder.template.cinderAPI': { name: 'cinder', ports: [8776] },
  'designate.template.designateAPI': { name: 'designate', ports: [9001] },
  'designate.template.designateBackendbind9': { name: 'designate-backendbind9', ports: [53] },
  'designate.template.designateMdns': { name: 'designate-mdns', ports: [5354] },
  'designate.template.designateUnbound': { name: 'designate-unbound', ports: [53] },
  'dns.template': { name: 'dnsmasq-dns', ports: [53] },
  'glance.template.glanceAPIs.*': { name: 'glance-*', ports: [9292] },
  'heat.template.heatAPI': { name: 'heat-api', ports: [8004] },
  'heat.template.heatCfnAPI': { name: 'heat-cfnapi', ports: [8000] },
  'horizon.template': { name: 'horizon', ports: [443] },
  'ironic.template.ironicAPI': { name: 'ironic', ports: [6385] },
  'ironic.template.ironicInspector': { name: 'ironic-inspector', ports: [5050] },
  'keystone.template': { name: 'keystone', ports: [5000] },
  'manila.template.manilaAPI': { name: 'manila', ports: [8786] },
  'neutron.template': { name: 'neutron', ports: [9696] },
  'nova.template.apiServiceTemplate': { name: 'nova', ports: [8774] },
  'nova.template.metadataServiceTemplate': { name: 'nova-metadata-internal', ports: [8775] },
  'nova.template.cellTemplates.*.metadataServiceTemplate': { name: 'nova-metadata-*-internal', ports: [8775] },
  'nova.template.cellTemplates.*.noVNCProxyServiceTemplate': { name: 'nova-novncproxy-*-public', ports: [6080] },
  'octavia.template.octaviaAPI': { name: 'octavia', ports: [9876] },
  'ovn.template.ovnDBCluster.*': { name: '*', ports: [6641, 6642] },
  'placement.template': { name: 'placement', ports: [8778] },
  'rabbitmq.templates.*': { name: '*', ports: [5671, 5672, 15671, 15672, 15691, 15692] },
  'swift.template.swiftProxy': { name: 'swift', ports: [8080] },
  'telemetry.template.autoscaling.aodh': { name: 'aodh', ports: [8042] },
  'telemetry.template.cloudkitty.cloudKittyAPI': { name: 'cloudkitty', ports: [8889] },
  'watcher.template.apiServiceTemplate': { name: 'watcher', ports: [9322] },
}

/** Undefined for a slot without a simulated operator. */
export function serviceForSlot({ path, endpoint, index }: OverrideSlot): NamedService | undefined {
  for (const [pattern, { name, ports }] of Object.entries(table)) {
    const chosen = matchPattern(pattern.split('.'), path)
    if (chosen === undefined) continue
    const suffix = endpoint ?? (index === undefined ? undefined : String(index))
    const base = name.replace('*', chosen)
    return { name: suffix === undefined ? base : `${base}-${suffix}`, ports }
  }
  return undefined
}

/** The text that matches `*`, empty without `*`, undefined when the path does not match. */
function matchPattern(pattern: readonly string[], path: readonly string[]): string | undefined {
  if (pattern.length !== path.length) return undefined
  let chosen = ''
  for (const [index, step] of pattern.entries()) {
    if (step === '*') chosen = path[index] ?? ''
    else if (step !== path[index]) return undefined
  }
  return chosen
}
