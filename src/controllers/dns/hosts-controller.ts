/**
 * The hosts controller: brings the hosts of a DNSMasq to where its pods read them.
 *
 * Apart from everything else about a DNSMasq, because somebody waits for a name: a look is one small write, and no
 * change of a record waits for a status, a Service or a Deployment of the change before.
 */

import type { DnsMasq } from '../../api/dnsmasq.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Controller } from '../../kube/controller.ts'
import { requeueOnConflict } from '../kit/writes.ts'
import { dnsDatas, dnsMasqs, FIELD_MANAGER, findController, mapToOwner, PART_LABEL, pods } from './dns-kinds.ts'
import { hostsIndexName, hostsShardName, podLabels } from './dnsmasq-deployment.ts'
import { hostsConfigMaps } from './dnsmasq-objects.ts'
import { ensureData } from './ensure.ts'
import { tooManyHosts } from './findings.ts'
import { collectHostSources } from './host-sources.ts'
import { CONFIG_MAP_BYTES } from './hosts-file.ts'
import { type HostsRevision, nextRevision, readRevision, revisionFiles } from './hosts-revision.ts'
import type { ShardedHosts } from './shards.ts'
import { type DnsWorld, serversOf, sources } from './world.ts'

const HOSTS_ANNOTATION = 'stackloom.dev/hosts'

/** `tell` is called with the key of a DNSMasq whose hosts, or what is wrong with them, are others than before. */
export function hostsController(world: DnsWorld, tell: (key: string) => void): Controller {
  const neighbours = ({ metadata }: KubeObject): readonly string[] => serversOf(world, metadata.namespace)
  const changed = (dnsData: KubeObject): readonly string[] => {
    const keys = neighbours(dnsData)
    for (const key of keys) world.turns.request(key)
    return keys
  }
  return {
    name: 'dnsmasq-hosts',
    workers: 4,
    watches: [
      { kind: dnsMasqs },
      { kind: dnsDatas, map: changed },
      // Copies of DNSData say nothing new.
      { ...sources.hostMaps, map: (one) => (findController(one)?.kind === 'DNSData' ? [] : neighbours(one)) },
      { ...sources.ownMaps, map: (one) => (isHostsPart(one) ? dnsMasqKeys(one) : []) },
      { ...sources.pods, map: () => [] },
    ],
    reconcile: requeueOnConflict(
      async (request, { signal, clock }) => {
        const key = objectKey(request)
        const end = world.turns.begin(key)
        try {
          const dnsMasq = world.dnsMasqs.get(key)
          if (!dnsMasq || dnsMasq.metadata.deletionTimestamp) return undefined
          const served = shardHosts(world, dnsMasq)
          const findings = checkSize(served)
          if (findings.length === 0) await writeHosts(world, dnsMasq, served, { signal, now: clock.now() })
          end()
          const known = world.brought.get(key)
          world.brought.set(key, { hash: served.hash, findings })
          if (known?.hash !== served.hash || !sameJson(known.findings, findings)) tell(key)
          if (findings.length === 0) await touchPods(world, dnsMasq, served.hash, signal)
        } finally {
          end()
        }
        return undefined
      },
      ['conflict', 'already-exists', 'not-found'],
    ),
  }
}

/** Whether it is one of the ConfigMaps in which hosts reach the pods. */
export function isHostsPart({ metadata }: KubeObject): boolean {
  return metadata.labels?.[PART_LABEL] !== undefined
}

/** The DNSMasq that owns it. */
export const dnsMasqKeys = mapToOwner('DNSMasq')

function shardHosts(world: DnsWorld, dnsMasq: DnsMasq): ShardedHosts {
  const { namespace = '' } = dnsMasq.metadata
  const hosts = { dnsDatas: world.dnsDatas.list(namespace), configMaps: world.hostMaps.list(namespace) }
  return world.sharder(objectKey(dnsMasq.metadata)).shard(collectHostSources(dnsMasq, hosts, world.text))
}

function checkSize({ shards }: ShardedHosts): readonly Finding[] {
  const bytes = Math.max(...shards.map(({ text }) => Buffer.byteLength(text)))
  return bytes > CONFIG_MAP_BYTES ? [finding(tooManyHosts, { bytes, most: CONFIG_MAP_BYTES })] : []
}

/** All at once: a pod that needs the parts waits until it has those that belong together. */
async function writeHosts(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  served: ShardedHosts,
  { signal, now }: { readonly signal: AbortSignal; readonly now: number },
): Promise<void> {
  // Numbered by the time where there is none before it: no pod may take it for one that it has.
  const edition = nextRevision(currentRevision(world, dnsMasq), served, now)
  const parts = hostsConfigMaps(dnsMasq, edition)
  await Promise.all(parts.map((part) => ensureData(world.client, world.ownMaps, part, signal)))
  world.editions.set(objectKey(dnsMasq.metadata), edition)
}

/** The edition that the cluster has: the one that we remember, if it is that one; else it is read. */
function currentRevision(world: DnsWorld, dnsMasq: DnsMasq): HostsRevision | undefined {
  const { namespace } = dnsMasq.metadata
  const dataOf = (name: string): Readonly<Record<string, string>> =>
    (world.ownMaps.get(`${namespace}/${name}`)?.['data'] ?? {}) as Readonly<Record<string, string>>
  const live = dataOf(hostsIndexName(dnsMasq))
  const known = world.editions.get(objectKey(dnsMasq.metadata))
  if (known && sameJson(live, revisionFiles(known))) return known
  return readRevision(live, (number) => dataOf(hostsShardName(dnsMasq, number)))
}

/** A kubelet looks at a pod's volumes once a minute, and at once when the pod changes: an annotation is a change. */
async function touchPods(world: DnsWorld, dnsMasq: DnsMasq, hash: string, signal: AbortSignal): Promise<void> {
  const { namespace = '' } = dnsMasq.metadata
  const labels = Object.entries(podLabels(dnsMasq))
  for (const { metadata } of world.pods.list(namespace)) {
    const own = labels.every(([key, value]) => metadata.labels?.[key] === value)
    if (!own || metadata.deletionTimestamp || metadata.annotations?.[HOSTS_ANNOTATION] === hash) continue
    const patch = { metadata: { annotations: { [HOSTS_ANNOTATION]: hash } } }
    const options = { type: 'merge', fieldManager: FIELD_MANAGER, signal } as const
    await world.client.patch({ ...pods, namespace, name: metadata.name }, patch, options).catch((error) => {
      if (!isApiError(error, 'not-found')) throw error
    })
  }
}
