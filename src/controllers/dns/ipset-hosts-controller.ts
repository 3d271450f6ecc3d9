/** Registers the addresses of IPSets that ask for it: one DNSData for each, which goes with it. */

import { ipSets } from '../../api/ipset.ts'
import { keyOf } from '../../api/object.ts'
import type { Controller } from '../../kube/controller.ts'
import { calmly } from '../calmly.ts'
import { ipSetHosts, isWanted } from './ipset-hosts.ts'
import { dnsDatas, isOwnedBy, keysOfOwner } from './kinds.ts'
import { dataFor, ensureOwnData } from './own-data.ts'
import type { DnsWorld } from './world.ts'

const ownerKeys = keysOfOwner('IPSet')

/** A name that a person's DNSData does not have by chance. */
const nameFor = (ipSet: string): string => `${ipSet}-ipset`

export function ipSetHostsController(world: DnsWorld): Controller {
  return {
    name: 'dns-ipset',
    workers: 8,
    watches: [{ kind: ipSets }, { kind: dnsDatas, map: ownerKeys }],
    reconcile: calmly(async (request, { signal }) => {
      const key = keyOf(request)
      const ipSet = world.ipSets.get(key)
      const { namespace = '' } = request
      const name = nameFor(request.name)
      const live = world.dnsDatas.get(`${namespace}/${name}`)
      if (ipSet && !ipSet.metadata.deletionTimestamp && isWanted(ipSet)) {
        const wanted = dataFor(ipSet, name, 'dnsdata', ipSetHosts(ipSet))
        await ensureOwnData(world, ipSet, wanted, signal)
      } else if (live && (ipSet ? isOwnedBy(live, ipSet) : ownerKeys(live).includes(key))) {
        const { uid } = live.metadata
        await world.client.delete(
          { ...dnsDatas, namespace, name },
          { signal, ...(uid && { preconditions: { uid } }) },
        )
      }
      return undefined
    }),
  }
}
