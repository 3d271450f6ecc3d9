/** Registers the addresses of IPSets that ask for it: one DNSData for each, which goes with it. */
import { type KubeObject, keyOf } from '../../api/object.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Controller } from '../../kube/controller.ts'
import { ipSetHosts, isWanted } from './ipset-hosts.ts'
import { controllerOf, dnsDatas, ipSets, isOwnedBy } from './kinds.ts'
import { dataFor, ensureOwnData } from './own-data.ts'
import type { DnsWorld } from './world.ts'

const CONFLICT_PAUSE_MS = 100

/** A name that a person's DNSData does not have by chance. */
const nameFor = (ipSet: string): string => `${ipSet}-ipset`

export function ipSetHostsController(world: DnsWorld): Controller {
  return {
    name: 'dns-ipset',
    workers: 8,
    watches: [{ kind: ipSets }, { kind: dnsDatas, map: ownerKeys }],
    reconcile: async (request, { signal }) => {
      const key = keyOf(request)
      const ipSet = world.ipSets.get(key)
      const { namespace = '' } = request
      const name = nameFor(request.name)
      const live = world.dnsDatas.get(`${namespace}/${name}`)
      try {
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
      } catch (error) {
        if (!isApiError(error, 'conflict', 'already-exists')) throw error
        return { requeueAfterMs: CONFLICT_PAUSE_MS }
      }
      return undefined
    },
  }
}

function ownerKeys(object: KubeObject): readonly string[] {
  const owner = controllerOf(object)
  return owner?.kind === 'IPSet' ? [`${object.metadata.namespace}/${owner.name}`] : []
}
