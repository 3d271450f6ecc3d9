/**
 * Publishes the hosts of a DNSMasq in the ConfigMaps that its pods read.
 *
 * A controller of its own, because clients wait for names: a reconcile is one small write, and no change of a record
 * waits for a status, a Service or a Deployment.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { findController, mapToOwner } from '../../api/ownership.ts'
import { sameJson } from '../../api/same-json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Controller } from '../../kube/controller.ts'
import type { Contents } from '../kit/contents.ts'
import { IN_THE_WAY_RESYNC_MS, tryOwnedWrite } from '../kit/ownership.ts'
import { ignoreNotFound, requeueOnConflict, type Writer } from '../kit/writes.ts'
import {
  dnsDatas as dnsDataKind,
  dnsMasqKeysIn,
  dnsMasqs as dnsMasqKind,
  FIELD_MANAGER,
  pods,
  sources,
} from './dns-kinds.ts'
import { hostsIndexName, hostsShardName, podLabels } from './dnsmasq-deployment.ts'
import { hostsConfigMaps } from './dnsmasq-objects.ts'
import { tooManyHosts } from './findings.ts'
import { CONFIG_MAP_BYTES, collectHostSources, isServedConfigMap } from './hosts-file.ts'
import { type HostsRevision, nextRevision, readRevision, revisionFiles } from './hosts-revision.ts'
import { writeConfigMap } from './owned-objects.ts'
import type { Sequencer } from './sequencer.ts'
import { createSharder, SHARDS, type ShardedHosts, type Sharder } from './shards.ts'

const HOSTS_ANNOTATION = 'stackloom.dev/hosts'

export interface PublishedHosts {
  /** Of all hosts together. */
  readonly hash: string
  /** Why they were not published. */
  readonly findings: readonly Finding[]
}

export interface HostsControllerDeps {
  readonly client: Pick<KubeClient, 'patch'>
  readonly writer: Writer
  readonly dnsMasqs: CacheReader<DnsMasq>
  readonly dnsDatas: CacheReader<DnsData>
  /** Metadata only. */
  readonly hostMaps: CacheReader
  readonly hostContents: Pick<Contents, 'read'>
  readonly ownContents: Pick<Contents, 'read' | 'note'>
  readonly pods: CacheReader
  readonly hostsText: (dnsData: DnsData) => string
  readonly sequencer: Sequencer
  /** By key of the DNSMasq. Written here, read by the DNSMasq controller. */
  readonly published: Map<string, PublishedHosts>
  /** Called with the key of a DNSMasq when its published hosts change. */
  readonly onPublished: (key: string) => void
}

/** What was computed for a DNSMasq before, so that a change costs no more than itself. */
interface HostsState {
  readonly sharder: Sharder
  revision?: HostsRevision
}

export function hostsController(deps: HostsControllerDeps): Controller {
  const { dnsMasqs, sequencer, published } = deps
  const states = new Map<string, HostsState>()
  const serversOfNamespace = ({ metadata }: KubeObject): readonly string[] =>
    dnsMasqKeysIn(dnsMasqs, metadata.namespace)
  const announceChange = (dnsData: KubeObject): readonly string[] => {
    const keys = serversOfNamespace(dnsData)
    for (const key of keys) sequencer.request(key)
    return keys
  }
  const isCopy = (configMap: KubeObject): boolean => findController(configMap)?.kind === 'DNSData'
  return {
    name: 'dnsmasq-hosts',
    workers: 4,
    watches: [
      { kind: dnsMasqKind },
      { kind: dnsDataKind, map: announceChange },
      { ...sources.hostMaps, map: (configMap) => (isCopy(configMap) ? [] : serversOfNamespace(configMap)) },
      { ...sources.ownMaps, map: (configMap) => (isHostsPart(configMap) ? dnsMasqKeys(configMap) : []) },
      { ...sources.pods, map: () => [] },
    ],
    reconcile: requeueOnConflict(
      async (request, { signal, clock }) => {
        const key = objectKey(request)
        const finish = sequencer.begin(key)
        try {
          const dnsMasq = dnsMasqs.get(key)
          if (!dnsMasq) {
            states.delete(key)
            published.delete(key)
          }
          if (!dnsMasq || dnsMasq.metadata.deletionTimestamp) return undefined
          const state = states.get(key) ?? { sharder: createSharder() }
          states.set(key, state)
          const before = published.get(key)
          const { configMaps, tooLarge } = await readHostMaps(deps, dnsMasq, signal)
          const hosts = shardHosts(deps, dnsMasq, configMaps, state.sharder)
          const unfit = tooLarge ? [tooLarge] : checkSize(hosts)
          const findings =
            unfit.length > 0 ? unfit : await writeHosts(deps, dnsMasq, state, hosts, { signal, now: clock.now() })
          finish()
          const { hash } = hosts
          published.set(key, { hash, findings })
          if (before?.hash !== hash || !sameJson(before.findings, findings)) deps.onPublished(key)
          if (findings.length === 0) await touchPods(deps, dnsMasq, hash, signal)
          return findings.length > 0 ? { requeueAfterMs: IN_THE_WAY_RESYNC_MS } : undefined
        } finally {
          finish()
        }
      },
      ['conflict', 'already-exists', 'not-found'],
    ),
  }
}

/** Whether this is one of the ConfigMaps from which pods read hosts. */
export function isHostsPart(configMap: KubeObject): boolean {
  const owner = findController(configMap)
  if (owner?.kind !== dnsMasqKind.kind) return false
  const index = hostsIndexName({ ...dnsMasqKind, metadata: { name: owner.name } })
  const { name } = configMap.metadata
  return name === index || name.startsWith(`${index}-`)
}

export const dnsMasqKeys = mapToOwner('DNSMasq')

/** All shards together hold no more, and no reconcile reads more. */
const MAX_HOST_MAP_BYTES = SHARDS * CONFIG_MAP_BYTES

interface HostMaps {
  readonly configMaps: readonly KubeObject[]
  readonly tooLarge?: Finding
}

/** Reads the ConfigMaps with hosts one after the other, up to the limit. */
async function readHostMaps(
  { hostMaps, hostContents }: HostsControllerDeps,
  dnsMasq: DnsMasq,
  signal: AbortSignal,
): Promise<HostMaps> {
  const configMaps: KubeObject[] = []
  let bytes = 0
  for (const candidate of hostMaps.list(dnsMasq.metadata.namespace)) {
    if (!isServedConfigMap(dnsMasq, candidate)) continue
    const configMap = await hostContents.read(objectKey(candidate.metadata), signal)
    if (!configMap || !isServedConfigMap(dnsMasq, configMap)) continue
    bytes += JSON.stringify([configMap['data'], configMap['binaryData']]).length
    if (bytes > MAX_HOST_MAP_BYTES) {
      return { configMaps: [], tooLarge: finding(tooManyHosts, { bytes, most: MAX_HOST_MAP_BYTES }) }
    }
    configMaps.push(configMap)
  }
  return { configMaps }
}

function shardHosts(
  { dnsDatas, hostsText }: HostsControllerDeps,
  dnsMasq: DnsMasq,
  configMaps: readonly KubeObject[],
  sharder: Sharder,
): ShardedHosts {
  const hosts = { dnsDatas: dnsDatas.list(dnsMasq.metadata.namespace ?? ''), configMaps }
  return sharder.shard(collectHostSources(dnsMasq, hosts, hostsText))
}

function checkSize({ shards }: ShardedHosts): readonly Finding[] {
  const bytes = Math.max(...shards.map(({ text }) => Buffer.byteLength(text)))
  return bytes > CONFIG_MAP_BYTES ? [finding(tooManyHosts, { bytes, most: CONFIG_MAP_BYTES })] : []
}

/**
 * Writes all ConfigMaps at once: a pod waits until it has those that belong together. Returns which are in the way; then
 * no revision is complete, and the pods keep the last one that was.
 */
async function writeHosts(
  { writer, ownContents }: HostsControllerDeps,
  dnsMasq: DnsMasq,
  state: HostsState,
  hosts: ShardedHosts,
  { signal, now }: { readonly signal: AbortSignal; readonly now: number },
): Promise<readonly Finding[]> {
  // The first revision is numbered by the time, so that no pod mistakes it for one that it has.
  const current = await currentRevision(ownContents, dnsMasq, state.revision, signal)
  const revision = nextRevision(current, hosts, now)
  const writes = await Promise.all(
    hostsConfigMaps(dnsMasq, revision).map((configMap) =>
      tryOwnedWrite(writeConfigMap(writer, ownContents, configMap, signal)),
    ),
  )
  const refusals = writes.flatMap((write) => (write.kind === 'refused' ? [write.finding] : []))
  if (refusals.length === 0) state.revision = revision
  return refusals
}

/** The revision in the cluster: the remembered one if it is the same, else it is read. */
async function currentRevision(
  ownContents: Pick<Contents, 'read'>,
  dnsMasq: DnsMasq,
  remembered: HostsRevision | undefined,
  signal: AbortSignal,
): Promise<HostsRevision | undefined> {
  const { namespace } = dnsMasq.metadata
  const readData = async (name: string): Promise<Readonly<Record<string, string>>> =>
    ((await ownContents.read(`${namespace}/${name}`, signal))?.['data'] ?? {}) as Readonly<Record<string, string>>
  const index = await readData(hostsIndexName(dnsMasq))
  if (remembered && sameJson(index, revisionFiles(remembered))) return remembered
  const shards = await Promise.all(
    Array.from({ length: SHARDS }, (_, number) => readData(hostsShardName(dnsMasq, number))),
  )
  return readRevision(index, (number) => shards[number] ?? {})
}

/** The kubelet refreshes the volumes of a changed pod at once and of others once a minute: an annotation is a change. */
async function touchPods(
  deps: HostsControllerDeps,
  dnsMasq: DnsMasq,
  hash: string,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = dnsMasq.metadata
  const labels = Object.entries(podLabels(dnsMasq))
  for (const { metadata } of deps.pods.list(namespace)) {
    const isServer = labels.every(([key, value]) => metadata.labels?.[key] === value)
    if (!isServer || metadata.deletionTimestamp || metadata.annotations?.[HOSTS_ANNOTATION] === hash) continue
    const patch = { metadata: { annotations: { [HOSTS_ANNOTATION]: hash } } }
    const options = { type: 'merge', fieldManager: FIELD_MANAGER, signal } as const
    await ignoreNotFound(deps.client.patch({ ...pods, namespace, name: metadata.name }, patch, options))
  }
}
