/** DNSData: the names of a cloud's data plane hosts, for the cloud's own dnsmasq. */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { labelled } from './labels.ts'

export function renderDnsData(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const hosts = cloud.networks.flatMap((network) =>
    network.hosts
      .filter((host) => host.names.length > 0)
      .map((host) => ({ hostnames: host.names, ip: host.address })),
  )
  if (hosts.length === 0) return []
  const object = {
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'DNSData',
    metadata: { name: 'data-plane-hosts', namespace: cloud.namespace },
    spec: { dnsDataLabelSelectorValue: 'dnsdata', hosts },
  }
  return [labelled(object, { site: plan.site, cloud: cloud.name })]
}
