/** Reconciles DNSData: copies its hosts to a ConfigMap, as upstream does, and writes its status. */
import type { DnsData, DnsDataStatus } from '../../api/dnsdata.ts'
import { formatTimestamp, type KubeObject, objectKey } from '../../api/object.ts'
import { controllerReference, findController, isOwnedBy, mapToOwner } from '../../api/ownership.ts'
import { waitForAbort } from '../../clock/clock.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import { conditionError, conditionTrue, conditionWarning, summarizeConditions } from '../kit/conditions.ts'
import type { Contents } from '../kit/contents.ts'
import { decideOwnership, tryOwnedWrite } from '../kit/ownership.ts'
import { requeueOnConflict, shortHash, type Writer } from '../kit/writes.ts'
import {
  configMaps,
  dnsDatas as dnsDataKind,
  dnsMasqKeysIn,
  HOSTS_LABEL,
  ownerLabels,
  selectorValue,
  sources,
} from './dns-kinds.ts'
import { configMapNotOwned, invalidHostAddress } from './findings.ts'
import { findInvalidAddresses, splitHosts } from './hosts-file.ts'
import { removeUpstreamFinalizers, writeConfigMap } from './owned-objects.ts'
import type { Sequencer } from './sequencer.ts'
import type { ServedFields } from './served-fields.ts'

const ownerKeys = mapToOwner('DNSData')

const MAX_NAMED_ADDRESSES = 3

export interface DnsDataControllerDeps {
  readonly client: Pick<KubeClient, 'get'>
  readonly writer: Writer
  readonly dnsMasqs: Pick<CacheReader, 'list'>
  readonly dnsDatas: SharedCache<DnsData>
  readonly hostMaps: CacheReader
  /** Metadata only. */
  readonly ownMaps: CacheReader
  readonly ownContents: Pick<Contents, 'read' | 'note'>
  readonly hostsText: (dnsData: DnsData) => string
  readonly sequencer: Sequencer
  readonly servedFields: ServedFields
}

export function dnsDataController(deps: DnsDataControllerDeps): Controller {
  return {
    name: 'dnsdata',
    workers: 8,
    watches: [{ kind: dnsDataKind }, { ...sources.ownMaps, map: ownerKeys }],
    reconcile: requeueOnConflict(
      async (request, context) => {
        const key = objectKey(request)
        await waitForHosts(deps, request.namespace, context.signal)
        const dnsData = deps.dnsDatas.get(key)
        // Like garbage collection, which comes later and not in every cluster.
        if (!dnsData)
          await deleteConfigMaps(deps, key, (configMap) => ownerKeys(configMap).includes(key), context.signal)
        else if (dnsData.metadata.deletionTimestamp) await reconcileDelete(deps, dnsData, context.signal)
        else await reconcileNormal(deps, dnsData, context)
        return undefined
      },
      ['conflict', 'not-found'],
    ),
  }
}

/** The servers get a change first: clients may wait for a name, but not for the copy and the status written here. */
async function waitForHosts(
  { dnsMasqs, sequencer }: DnsDataControllerDeps,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const servers = dnsMasqKeysIn(dnsMasqs, namespace)
  await Promise.race([Promise.all(servers.map(sequencer.settled)), waitForAbort(signal)])
}

async function reconcileNormal(
  deps: DnsDataControllerDeps,
  dnsData: DnsData,
  { signal, clock }: ReconcileContext,
): Promise<void> {
  const { writer, ownContents } = deps
  const text = deps.hostsText(dnsData)
  const desired = buildConfigMaps(dnsData, text)
  let conflict = await findForeignConfigMap(deps, dnsData, desired, signal)
  for (const configMap of conflict ? [] : desired) {
    const write = await tryOwnedWrite(writeConfigMap(writer, ownContents, configMap, signal))
    if (write.kind === 'refused') conflict ??= write.finding
  }
  if (!conflict) {
    const names = new Set(desired.map(({ metadata }) => metadata.name))
    const isUnused = (configMap: KubeObject): boolean =>
      isOwnedBy(configMap, dnsData) && !names.has(configMap.metadata.name)
    await deleteConfigMaps(deps, objectKey(dnsData.metadata), isUnused, signal)
  }
  const status = buildDnsDataStatus(dnsData, shortHash(text), conflict, formatTimestamp(clock.now()))
  await writer.updateStatus(deps.dnsDatas, dnsData, await deps.servedFields.prune('dnsdata', status), signal)
}

/** A ConfigMap with the name of the DNSData; what does not fit goes into further ones. */
export function buildConfigMaps(dnsData: DnsData, text: string): readonly KubeObject[] {
  const { name, namespace = '' } = dnsData.metadata
  return splitHosts(text).map((part, index) => {
    const partName = index === 0 ? name : `${name}.part-${index + 1}`
    return {
      ...configMaps,
      metadata: {
        name: partName.toLowerCase(),
        namespace,
        labels: { ...ownerLabels(dnsData), [HOSTS_LABEL]: selectorValue(dnsData.spec) },
        ownerReferences: [controllerReference(dnsData)],
      },
      data: { [partName]: part },
    }
  })
}

/** A ConfigMap with a needed name that belongs to another object. */
async function findForeignConfigMap(
  { client, writer, ownMaps, hostMaps }: DnsDataControllerDeps,
  dnsData: DnsData,
  desired: readonly KubeObject[],
  signal: AbortSignal,
): Promise<Finding | undefined> {
  for (const { metadata } of desired) {
    const key = objectKey(metadata)
    const { namespace = '', name } = metadata
    const live =
      ownMaps.get(key) ?? hostMaps.get(key) ?? (await client.get({ ...configMaps, namespace, name }, { signal }))
    const ownership = live ? decideOwnership(live, { ...configMaps, metadata }) : undefined
    if (!live || ownership?.kind === 'owned') continue
    if (ownership?.kind === 'stale') {
      await writer.delete({ ...live, ...configMaps }, signal)
      continue
    }
    const owner = findController(live)
    const reason = owner ? `${owner.kind} ${owner.name} owns it` : 'no DNSData owns it'
    return finding(configMapNotOwned, { configMap: key, owner: reason })
  }
  return undefined
}

export function buildDnsDataStatus(
  dnsData: DnsData,
  hash: string,
  conflict: Finding | undefined,
  now: string,
): DnsDataStatus {
  const invalid = findInvalidAddresses(dnsData)
  const warning = finding(invalidHostAddress, { texts: invalid.slice(0, MAX_NAMED_ADDRESSES), count: invalid.length })
  const conditions = [
    conflict
      ? conditionError('ServiceConfigReady', `Input data error occurred ${conflict.code}: ${conflict.message}`)
      : conditionTrue('ServiceConfigReady', 'Input data complete'),
    invalid.length > 0
      ? conditionWarning('HostsUsable', `${warning.code}: ${warning.message}`)
      : conditionTrue('HostsUsable', 'Every host has an address'),
  ]
  const { generation } = dnsData.metadata
  return {
    conditions: summarizeConditions(conditions, dnsData.status?.conditions, now),
    hash,
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

async function reconcileDelete(deps: DnsDataControllerDeps, dnsData: DnsData, signal: AbortSignal): Promise<void> {
  const isOurs = (configMap: KubeObject): boolean => isOwnedBy(configMap, dnsData)
  await deleteConfigMaps(deps, objectKey(dnsData.metadata), isOurs, signal)
  await removeUpstreamFinalizers(deps.writer, deps.dnsDatas, dnsData, signal)
}

async function deleteConfigMaps(
  { writer, ownMaps }: Pick<DnsDataControllerDeps, 'writer' | 'ownMaps'>,
  key: string,
  isDeleted: (configMap: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const [namespace = ''] = key.split('/')
  for (const configMap of ownMaps.list(namespace)) {
    if (isDeleted(configMap)) await writer.delete({ ...configMap, ...configMaps }, signal)
  }
}
