/** DNSData: the names of a cloud's data plane hosts, for the cloud's own dnsmasq. */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { addOwnershipLabels } from './labels.ts'

export function renderDnsData(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const hosts: unknown[] = []
  for (const network of cloud.networks) {
    for (const { names, address } of network.hosts) {
      if (names.length > 0) hosts.push({ hostnames: names, ip: address })
    }
  }
  if (hosts.length === 0) return []
  const object = {
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'DNSData',
    metadata: { name: 'data-plane-hosts', namespace: cloud.namespace },
    spec: { dnsDataLabelSelectorValue: 'dnsdata', hosts },
  }
  return [addOwnershipLabels(object, { site: plan.site, cloud: cloud.name })]
}
