/** The service controller: for each DNSMasq, the DNSData `<name>-svc` with the Services that ask to be registered. */

import { objectKey } from '../../api/object.ts'
import type { Controller } from '../../kube/controller.ts'
import { requeueOnConflict } from '../kit/writes.ts'
import { dnsDatas, dnsMasqs, mapToOwner, selectorValue, services } from './dns-kinds.ts'
import { buildDnsData, ensureDnsData } from './owned-dnsdata.ts'
import { hostsForServices } from './service-hosts.ts'
import { type DnsWorld, serversOf } from './world.ts'

export function serviceDnsController(world: DnsWorld): Controller {
  return {
    name: 'dns-service',
    workers: 4,
    watches: [
      { kind: dnsMasqs },
      { kind: services, map: ({ metadata }) => serversOf(world, metadata.namespace) },
      { kind: dnsDatas, map: mapToOwner('DNSMasq') },
    ],
    reconcile: requeueOnConflict(async (request, { signal }) => {
      const dnsMasq = world.dnsMasqs.get(objectKey(request))
      if (!dnsMasq || dnsMasq.metadata.deletionTimestamp) return undefined
      const { namespace = '', name } = dnsMasq.metadata
      const { hosts, skipped } = hostsForServices(world.services.list(namespace))
      for (const { service, finding } of skipped) {
        world.record({
          regarding: service,
          related: dnsMasq,
          type: 'Warning',
          reason: 'NotRegistered',
          action: 'RegisterName',
          note: `${finding.code}: ${finding.message}. ${finding.remedy}`,
        })
      }
      const wanted = buildDnsData(dnsMasq, `${name}-svc`, selectorValue(dnsMasq.spec), hosts)
      await ensureDnsData(world, dnsMasq, wanted, signal)
      return undefined
    }),
  }
}
