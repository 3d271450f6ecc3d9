/** Registers the addresses of IPSets that ask for it: one DNSData for each, which goes with it. */

import { ipSets } from '../../api/ipset.ts'
import { objectKey } from '../../api/object.ts'
import type { Controller } from '../../kube/controller.ts'
import { requeueOnConflict } from '../kit/writes.ts'
import { dnsDatas, isOwnedBy, mapToOwner } from './dns-kinds.ts'
import { hostsForIpSet, isDnsRequested } from './ipset-dns-controller.ts'
import { buildDnsData, ensureDnsData } from './owned-dnsdata.ts'
import type { DnsWorld } from './world.ts'

const ownerKeys = mapToOwner('IPSet')

/** A name that a person's DNSData does not have by chance. */
const dnsDataName = (ipSet: string): string => `${ipSet}-ipset`

export function ipSetDnsController(world: DnsWorld): Controller {
  return {
    name: 'dns-ipset',
    workers: 8,
    watches: [{ kind: ipSets }, { kind: dnsDatas, map: ownerKeys }],
    reconcile: requeueOnConflict(async (request, { signal }) => {
      const key = objectKey(request)
      const ipSet = world.ipSets.get(key)
      const { namespace = '' } = request
      const name = dnsDataName(request.name)
      const live = world.dnsDatas.get(`${namespace}/${name}`)
      if (ipSet && !ipSet.metadata.deletionTimestamp && isDnsRequested(ipSet)) {
        const wanted = buildDnsData(ipSet, name, 'dnsdata', hostsForIpSet(ipSet))
        await ensureDnsData(world, ipSet, wanted, signal)
      } else if (live && (ipSet ? isOwnedBy(live, ipSet) : ownerKeys(live).includes(key))) {
        const { uid } = live.metadata
        await world.client.delete({ ...dnsDatas, namespace, name }, { signal, ...(uid && { preconditions: { uid } }) })
      }
      return undefined
    }),
  }
}
