/** Names of the Services that the operators create for slots. Facts of upstream; a slot without an entry has no known name. */
import type { SlotUse } from './slots.ts'

/** By the path of what carries the override; `*` goes into the name. */
const names: Readonly<Record<string, string>> = {
  'barbican.template.barbicanAPI': 'barbican',
  'cinder.template.cinderAPI': 'cinder',
  'designate.template.designateAPI': 'designate',
  'designate.template.designateBackendbind9': 'designate-backendbind9',
  'designate.template.designateMdns': 'designate-mdns',
  'designate.template.designateUnbound': 'designate-unbound',
  'dns.template': 'dnsmasq-dns',
  'glance.template.glanceAPIExternal': 'glance',
  'glance.template.glanceAPIInternal': 'glance',
  'glance.template.glanceAPIs.*': 'glance-*',
  'heat.template.heatAPI': 'heat-api',
  'heat.template.heatCfnAPI': 'heat-cfnapi',
  'horizon.template': 'horizon',
  'ironic.template.ironicAPI': 'ironic',
  'ironic.template.ironicInspector': 'ironic-inspector',
  'keystone.template': 'keystone',
  'manila.template.manilaAPI': 'manila',
  'neutron.template': 'neutron',
  'nova.template.apiServiceTemplate': 'nova',
  'nova.template.metadataServiceTemplate': 'nova-metadata-internal',
  'nova.template.cellTemplates.*.metadataServiceTemplate': 'nova-metadata-*-internal',
  'nova.template.cellTemplates.*.noVNCProxyServiceTemplate': 'nova-novncproxy-*-public',
  'octavia.template.octaviaAPI': 'octavia',
  'ovn.template.ovnDBCluster.*': '*',
  'placement.template': 'placement',
  'rabbitmq.templates.*': '*',
  'swift.template.swiftProxy': 'swift',
  'telemetry.template.autoscaling.aodh': 'aodh',
  'telemetry.template.cloudkitty.cloudKittyAPI': 'cloudkitty',
  'watcher.template.apiServiceTemplate': 'watcher',
}

/** `pattern`: the slot's path with its `*`; `each`: the name in place of `*`; `last`: the endpoint type or replica, if any. */
export function formatServiceName(
  pattern: readonly string[],
  each: string | undefined,
  last: string | undefined,
): string | undefined {
  const carrier = pattern.slice(0, pattern.indexOf('override')).join('.')
  const base = names[carrier]?.replace('*', each ?? '*')
  if (base === undefined) return undefined
  // The slots of 2023 name the endpoint of Services that have it in their name already.
  return last === undefined || base.endsWith(`-${last}`) ? base : `${base}-${last}`
}

/** The Service that will exist for a slot of a cloud, where its name is known. */
export function slotServiceName({ slot, path }: SlotUse): string | undefined {
  const each = slot.path.indexOf('*')
  return formatServiceName(slot.path, each < 0 ? undefined : path[each], path[slot.path.length])
}
