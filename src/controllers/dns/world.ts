/**
 * What the DNS controllers share: caches of the kinds that they read, what hosts were last made of, who is told.
 *
 * Made once per runtime.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { type IpSet, ipSets } from '../../api/ipset.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import type { Finding } from '../../errors/finding.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import {
  configMaps,
  deployments,
  dnsDatas,
  dnsMasqs,
  HOSTS_LABEL,
  NAME_LABEL,
  pods,
  roleBindings,
  roles,
  serviceAccounts,
  services,
} from './dns-kinds.ts'
import { formatHosts } from './hosts-file.ts'
import type { HostsRevision } from './hosts-revision.ts'
import { createSequencer, type Sequencer } from './sequencer.ts'
import { createServedFields, type ServedFields } from './served-fields.ts'
import { createSharder, type Sharder } from './shards.ts'

export interface BroughtHosts {
  /** Of everything together. */
  readonly hash: string
  /** Why they were not brought. */
  readonly findings: readonly Finding[]
}

export interface DnsWorld {
  readonly client: Runtime['client']
  readonly dnsMasqs: SharedCache<DnsMasq>
  readonly dnsDatas: SharedCache<DnsData>
  readonly ipSets: SharedCache<IpSet>
  /** Those with the label of hosts. */
  readonly hostMaps: SharedCache
  /** Those that belong to a DNSMasq or a DNSData. */
  readonly ownMaps: SharedCache
  readonly deployments: SharedCache
  /** By kind. */
  readonly accounts: Readonly<Record<string, SharedCache>>
  readonly services: SharedCache
  readonly pods: SharedCache
  readonly fields: ServedFields
  readonly record: (happening: EventRecord) => void
  /** The text of a DNSData, made once per version of it. */
  readonly text: (dnsData: DnsData) => string
  /** What remembers the hosts of one DNSMasq. */
  readonly sharder: (key: string) => Sharder
  /** The last edition that was written for a DNSMasq. */
  readonly editions: Map<string, HostsRevision>
  /** By DNSMasq: what was last brought to its pods. */
  readonly brought: Map<string, BroughtHosts>
  /** By DNSMasq: when the hosts of now are brought. */
  readonly turns: Sequencer
  readonly forget: (key: string) => void
}

export const sources = {
  hostMaps: { kind: configMaps, labelSelector: HOSTS_LABEL },
  ownMaps: { kind: configMaps, labelSelector: NAME_LABEL },
  deployments: { kind: deployments, labelSelector: NAME_LABEL },
  accounts: [serviceAccounts, roles, roleBindings].map((kind) => ({ kind, labelSelector: NAME_LABEL })),
  pods: { kind: pods, labelSelector: `service=dnsmasq,${NAME_LABEL}` },
} as const

export interface DnsWorldOptions {
  readonly runtime: Pick<Runtime, 'client' | 'cache'>
  readonly record?: (happening: EventRecord) => void
}

export function createDnsWorld({ runtime, record = () => {} }: DnsWorldOptions): DnsWorld {
  const { client, cache } = runtime
  const texts = new WeakMap<KubeObject, string>()
  const sharders = new Map<string, Sharder>()
  const editions = new Map<string, HostsRevision>()
  const brought = new Map<string, BroughtHosts>()
  return {
    client,
    dnsMasqs: cache<DnsMasq>({ kind: dnsMasqs }),
    dnsDatas: cache<DnsData>({ kind: dnsDatas }),
    ipSets: cache<IpSet>({ kind: ipSets }),
    hostMaps: cache(sources.hostMaps),
    ownMaps: cache(sources.ownMaps),
    deployments: cache(sources.deployments),
    accounts: Object.fromEntries(sources.accounts.map((account) => [account.kind.kind, cache(account)])),
    services: cache({ kind: services }),
    pods: cache(sources.pods),
    fields: createServedFields(client),
    record,
    text: (dnsData) => {
      const text = texts.get(dnsData) ?? formatHosts(dnsData)
      texts.set(dnsData, text)
      return text
    },
    sharder: (key) => {
      const known = sharders.get(key) ?? createSharder()
      sharders.set(key, known)
      return known
    },
    editions,
    brought,
    turns: createSequencer(),
    forget: (key) => {
      sharders.delete(key)
      editions.delete(key)
      brought.delete(key)
    },
  }
}

/** The keys of a namespace's DNSMasqs: whatever happens to hosts there concerns them. */
export function serversOf(world: DnsWorld, namespace: string | undefined): readonly string[] {
  return world.dnsMasqs.list(namespace ?? '').map(({ metadata }) => objectKey(metadata))
}
