/** The DNSData controller: its hosts as a ConfigMap with the label by which servers find it, and how it stands. */

import type { DnsData, DnsDataStatus } from '../../api/dnsdata.ts'
import { formatTimestamp, type KubeObject, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { waitForAbort } from '../../clock/clock.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import { conditionError, conditionTrue, conditionWarning, summarizeConditions } from '../kit/conditions.ts'
import { requeueOnConflict } from '../kit/writes.ts'
import {
  configMaps,
  controllerReference,
  dnsDatas,
  FIELD_MANAGER,
  findController,
  HOSTS_LABEL,
  isOwnedBy,
  mapToOwner,
  ownerLabels,
  selectorValue,
  UPSTREAM_FINALIZERS,
} from './dns-kinds.ts'
import { ensureData } from './ensure.ts'
import { configMapNotOwned, invalidHostAddress } from './findings.ts'
import { findInvalidAddresses, splitHosts } from './hosts-file.ts'
import { shortHash } from './shards.ts'
import { type DnsWorld, serversOf, sources } from './world.ts'

const ownerKeys = mapToOwner('DNSData')

/** So many wrong texts are named; the rest is counted. */
const MAX_NAMED_ADDRESSES = 3

export function dnsDataController(world: DnsWorld): Controller {
  return {
    name: 'dnsdata',
    workers: 8,
    watches: [{ kind: dnsDatas }, { ...sources.ownMaps, map: ownerKeys }],
    reconcile: requeueOnConflict(
      async (request, context) => {
        const key = objectKey(request)
        await waitForHosts(world, request.namespace, context.signal)
        const dnsData = world.dnsDatas.get(key)
        if (!dnsData) await deleteConfigMaps(world, key, () => false, context.signal)
        else if (dnsData.metadata.deletionTimestamp) await reconcileDelete(world, dnsData, context.signal)
        else await reconcileNormal(world, dnsData, context)
        return undefined
      },
      ['conflict', 'not-found'],
    ),
  }
}

/** Somebody may wait for a name to come or to go, and nobody for the copy and the status that follow here. */
async function waitForHosts(world: DnsWorld, namespace: string | undefined, signal: AbortSignal): Promise<void> {
  const servers = serversOf(world, namespace)
  await Promise.race([Promise.all(servers.map(world.turns.settled)), waitForAbort(signal)])
}

async function reconcileNormal(world: DnsWorld, dnsData: DnsData, { signal, clock }: ReconcileContext): Promise<void> {
  const text = world.text(dnsData)
  const wanted = buildConfigMaps(dnsData, text)
  const taken = await findForeignConfigMap(world, dnsData, wanted, signal)
  if (!taken) {
    for (const one of wanted) await ensureData(world.client, world.ownMaps, one, signal)
    const names = new Set(wanted.map(({ metadata }) => metadata.name))
    await deleteConfigMaps(world, objectKey(dnsData.metadata), (one) => names.has(one.metadata.name), signal)
  }
  await writeStatus(
    world,
    dnsData,
    buildDnsDataStatus(dnsData, shortHash(text), taken, formatTimestamp(clock.now())),
    signal,
  )
}

/** One ConfigMap of the same name; what it cannot hold goes into further ones. */
export function buildConfigMaps(dnsData: DnsData, text: string): readonly KubeObject[] {
  const { name, namespace = '' } = dnsData.metadata
  return splitHosts(text).map((part, index) => {
    const own = index === 0 ? name : `${name}.part-${index + 1}`
    return {
      ...configMaps,
      metadata: {
        name: own.toLowerCase(),
        namespace,
        labels: { ...ownerLabels(dnsData), [HOSTS_LABEL]: selectorValue(dnsData.spec) },
        ownerReferences: [controllerReference(dnsData)],
      },
      data: { [own]: part },
    }
  })
}

/** Somebody else's ConfigMap under a name that is needed. */
async function findForeignConfigMap(
  world: DnsWorld,
  dnsData: DnsData,
  wanted: readonly KubeObject[],
  signal: AbortSignal,
): Promise<Finding | undefined> {
  for (const { metadata } of wanted) {
    const key = objectKey(metadata)
    const { namespace = '', name } = metadata
    const live =
      world.ownMaps.get(key) ??
      world.hostMaps.get(key) ??
      (await world.client.get({ ...configMaps, namespace, name }, { signal }))
    if (!live || isOwnedBy(live, dnsData)) continue
    const owner = findController(live)
    // Left behind by a DNSData of this name that is gone: garbage collection takes it, then it is made anew.
    if (owner?.kind === 'DNSData' && owner.name === dnsData.metadata.name) {
      const uid = live.metadata.uid
      await world.client.delete({ ...configMaps, namespace, name }, { signal, ...(uid && { preconditions: { uid } }) })
      continue
    }
    const facts = {
      configMap: key,
      owner: owner ? `${owner.kind} ${owner.name} owns it` : 'no DNSData owns it',
    }
    return finding(configMapNotOwned, facts)
  }
  return undefined
}

export function buildDnsDataStatus(
  dnsData: DnsData,
  hash: string,
  taken: Finding | undefined,
  now: string,
): DnsDataStatus {
  const wrong = findInvalidAddresses(dnsData)
  const told = finding(invalidHostAddress, { texts: wrong.slice(0, MAX_NAMED_ADDRESSES), count: wrong.length })
  const conditions = [
    taken
      ? conditionError('ServiceConfigReady', `Input data error occurred ${taken.code}: ${taken.message}`)
      : conditionTrue('ServiceConfigReady', 'Input data complete'),
    wrong.length > 0
      ? conditionWarning('HostsUsable', `${told.code}: ${told.message}`)
      : conditionTrue('HostsUsable', 'Every host has an address'),
  ]
  const { generation } = dnsData.metadata
  return {
    conditions: summarizeConditions(conditions, dnsData.status?.conditions, now),
    hash,
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

async function writeStatus(
  world: DnsWorld,
  dnsData: DnsData,
  wanted: DnsDataStatus,
  signal: AbortSignal,
): Promise<void> {
  const status = await world.fields.prune('dnsdata', wanted)
  if (sameJson(dnsData.status ?? {}, status)) return
  const next = { ...dnsData, status }
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status', signal } as const
  const got = (await world.client.update(next, options)) as DnsData
  world.dnsDatas.note(got, dnsData.metadata.resourceVersion ?? '')
}

/** Upstream's finalizer would keep it for ever: nobody else takes it off. */
async function reconcileDelete(world: DnsWorld, dnsData: DnsData, signal: AbortSignal): Promise<void> {
  await deleteConfigMaps(world, objectKey(dnsData.metadata), () => false, signal)
  const { finalizers = [] } = dnsData.metadata
  const left = finalizers.filter((finalizer) => !UPSTREAM_FINALIZERS.includes(finalizer))
  if (left.length === finalizers.length) return
  const next = { ...dnsData, metadata: { ...dnsData.metadata, finalizers: left } }
  await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })
}

/** By our own hand: garbage collection comes later, and not everywhere. */
async function deleteConfigMaps(
  world: DnsWorld,
  key: string,
  keep: (configMap: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const [namespace = ''] = key.split('/')
  for (const ownMap of world.ownMaps.list(namespace)) {
    if (!ownerKeys(ownMap).includes(key) || keep(ownMap)) continue
    const { name, uid } = ownMap.metadata
    await world.client.delete({ ...configMaps, namespace, name }, { signal, ...(uid && { preconditions: { uid } }) })
  }
}
