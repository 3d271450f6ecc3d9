/** Registers the addresses of IPSets that request it: each gets a DNSData, which is deleted with it. */
import type { DnsData, DnsHost } from '../../api/dnsdata.ts'
import { type IpReservation, type IpSet, ipSets as ipSetKind } from '../../api/ipset.ts'
import { resolveServiceNetwork } from '../../api/netconfig.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { isOwnedBy, mapToOwner } from '../../api/ownership.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import { tryOwnedWrite } from '../kit/ownership.ts'
import { requeueOnConflict, type Writer } from '../kit/writes.ts'
import { DNS_ANNOTATION, dnsDatas as dnsDataKind } from './dns-kinds.ts'
import { buildDnsData, ensureDnsData } from './owned-objects.ts'

const ownerKeys = mapToOwner('IPSet')
/** Keeps the name apart from DNSData that people create. */
const SUFFIX = '-ipset'
/** The key of the IPSet that needs the name of this DNSData, whatever owns it. */
const ipSetForDnsData = ({ metadata }: KubeObject): readonly string[] => {
  const { namespace = '', name } = metadata
  return name.endsWith(SUFFIX) ? [objectKey({ namespace, name: name.slice(0, -SUFFIX.length) })] : []
}

export interface IpSetDnsControllerDeps {
  readonly writer: Writer
  readonly ipSets: CacheReader<IpSet>
  readonly dnsDatas: SharedCache<DnsData>
  readonly record: (event: EventRecord) => void
}

export function ipSetDnsController({ writer, ipSets, dnsDatas, record }: IpSetDnsControllerDeps): Controller {
  return {
    name: 'dns-ipset',
    workers: 8,
    watches: [{ kind: ipSetKind }, { kind: dnsDataKind, map: ipSetForDnsData }],
    reconcile: requeueOnConflict(async (request, { signal }) => {
      const key = objectKey(request)
      const ipSet = ipSets.get(key)
      const name = `${request.name}${SUFFIX}`
      const live = dnsDatas.get(`${request.namespace ?? ''}/${name}`)
      if (ipSet && !ipSet.metadata.deletionTimestamp && isDnsRequested(ipSet)) {
        const desired = buildDnsData(ipSet, name, 'dnsdata', hostsForIpSet(ipSet))
        const write = await tryOwnedWrite(ensureDnsData(writer, dnsDatas, desired, signal))
        // The status of an IPSet belongs to the controller of addresses, which may be upstream's.
        if (write.kind === 'refused') {
          const { code, message, remedy } = write.finding
          const note = `${code}: ${message}. ${remedy}`
          record({ regarding: ipSet, type: 'Warning', reason: 'NotRegistered', action: 'RegisterName', note })
        }
      } else if (live && (ipSet ? isOwnedBy(live, ipSet) : ownerKeys(live).includes(key))) {
        await writer.delete({ ...live, ...dnsDataKind }, signal)
      }
      return undefined
    }),
  }
}

/** Requested by annotation, or by label where the creator of the IPSet sets only labels. */
export function isDnsRequested({ metadata }: IpSet): boolean {
  return metadata.annotations?.[DNS_ANNOTATION] === 'true' || metadata.labels?.[DNS_ANNOTATION] === 'true'
}

/**
 * The names that the NodeSet API registers: the host in the domain of every network, and its full name with the address
 * of the control plane network.
 */
export function hostsForIpSet({ metadata, status }: IpSet): readonly DnsHost[] {
  const [host = ''] = metadata.name.split('.')
  return (status?.reservations ?? []).map((reservation) => ({
    ip: reservation.address,
    hostnames: namesOnNetwork(metadata.name, host, reservation),
  }))
}

function namesOnNetwork(name: string, host: string, { network, dnsDomain, serviceNetwork }: IpReservation): string[] {
  const isControlPlane = resolveServiceNetwork(network, serviceNetwork) === 'ctlplane'
  return [
    ...new Set([
      ...(dnsDomain ? [`${host}.${dnsDomain}`] : []),
      `${host}.${network.toLowerCase()}`,
      ...(isControlPlane ? [name] : []),
    ]),
  ]
}
