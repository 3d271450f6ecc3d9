/** The service controller: for each DNSMasq, the DNSData `<name>-svc` with the Services that ask to be registered. */

import { keyOf } from '../../api/object.ts'
import type { Controller } from '../../kube/controller.ts'
import { calmly } from '../calmly.ts'
import { dnsDatas, dnsMasqs, keysOfOwner, selectorOf, services } from './kinds.ts'
import { dataFor, ensureOwnData } from './own-data.ts'
import { serviceHosts } from './service-hosts.ts'
import { type DnsWorld, serversOf } from './world.ts'

export function serviceController(world: DnsWorld): Controller {
  return {
    name: 'dns-service',
    workers: 4,
    watches: [
      { kind: dnsMasqs },
      { kind: services, map: ({ metadata }) => serversOf(world, metadata.namespace) },
      { kind: dnsDatas, map: keysOfOwner('DNSMasq') },
    ],
    reconcile: calmly(async (request, { signal }) => {
      const dnsMasq = world.dnsMasqs.get(keyOf(request))
      if (!dnsMasq || dnsMasq.metadata.deletionTimestamp) return undefined
      const { namespace = '', name } = dnsMasq.metadata
      const { hosts, skipped } = serviceHosts(world.services.list(namespace))
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
      const wanted = dataFor(dnsMasq, `${name}-svc`, selectorOf(dnsMasq.spec), hosts)
      await ensureOwnData(world, dnsMasq, wanted, signal)
      return undefined
    }),
  }
}
