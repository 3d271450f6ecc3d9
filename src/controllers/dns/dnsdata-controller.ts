/** The DNSData controller: its hosts as a ConfigMap with the label by which servers find it, and how it stands. */

import type { DnsData, DnsDataStatus } from '../../api/dnsdata.ts'
import { type KubeObject, keyOf, timestamp } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { fired } from '../../clock/clock.ts'
import { configMapTaken, hostUnusable } from '../../errors/dns.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import { calmly } from '../calmly.ts'
import { done, failed, summedUp, warned } from '../conditions.ts'
import { ensureData } from './ensure.ts'
import { partsOf, unusableTexts } from './hosts.ts'
import {
  configMaps,
  controllerOf,
  dnsDatas,
  FIELD_MANAGER,
  HOSTS_LABEL,
  isOwnedBy,
  keysOfOwner,
  labelsOf,
  ownedBy,
  selectorOf,
  UPSTREAM_FINALIZERS,
} from './kinds.ts'
import { hashOf } from './shards.ts'
import { type DnsWorld, serversOf, sources } from './world.ts'

const ownerKeys = keysOfOwner('DNSData')

/** So many wrong texts are named; the rest is counted. */
const NAMED = 3

export function dnsDataController(world: DnsWorld): Controller {
  return {
    name: 'dnsdata',
    workers: 8,
    watches: [{ kind: dnsDatas }, { ...sources.ownMaps, map: ownerKeys }],
    reconcile: calmly(
      async (request, context) => {
        const key = keyOf(request)
        await hostsFirst(world, request.namespace, context.signal)
        const dnsData = world.dnsDatas.get(key)
        if (!dnsData) await removeMaps(world, key, () => false, context.signal)
        else if (dnsData.metadata.deletionTimestamp) await takeLeave(world, dnsData, context.signal)
        else await serve(world, dnsData, context)
        return undefined
      },
      ['conflict', 'not-found'],
    ),
  }
}

/** Somebody may wait for a name to come or to go, and nobody for the copy and the status that follow here. */
async function hostsFirst(
  world: DnsWorld,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const servers = serversOf(world, namespace)
  await Promise.race([Promise.all(servers.map(world.turns.over)), fired(signal)])
}

async function serve(world: DnsWorld, dnsData: DnsData, { signal, clock }: ReconcileContext): Promise<void> {
  const text = world.text(dnsData)
  const wanted = configMapsFor(dnsData, text)
  const taken = await strangersAmong(world, dnsData, wanted, signal)
  if (!taken) {
    for (const one of wanted) await ensureData(world.client, world.ownMaps, one, signal)
    const names = new Set(wanted.map(({ metadata }) => metadata.name))
    await removeMaps(world, keyOf(dnsData.metadata), (one) => names.has(one.metadata.name), signal)
  }
  await writeStatus(world, dnsData, statusFor(dnsData, hashOf(text), taken, timestamp(clock.now())), signal)
}

/** One ConfigMap of the same name; what it cannot hold goes into further ones. */
export function configMapsFor(dnsData: DnsData, text: string): readonly KubeObject[] {
  const { name, namespace = '' } = dnsData.metadata
  return partsOf(text).map((part, index) => {
    const own = index === 0 ? name : `${name}.part-${index + 1}`
    return {
      ...configMaps,
      metadata: {
        name: own.toLowerCase(),
        namespace,
        labels: { ...labelsOf(dnsData), [HOSTS_LABEL]: selectorOf(dnsData.spec) },
        ownerReferences: [ownedBy(dnsData)],
      },
      data: { [own]: part },
    }
  })
}

/** Somebody else's ConfigMap under a name that is needed. */
async function strangersAmong(
  world: DnsWorld,
  dnsData: DnsData,
  wanted: readonly KubeObject[],
  signal: AbortSignal,
): Promise<Finding | undefined> {
  for (const { metadata } of wanted) {
    const key = keyOf(metadata)
    const { namespace = '', name } = metadata
    const live =
      world.ownMaps.get(key) ??
      world.hostMaps.get(key) ??
      (await world.client.get({ ...configMaps, namespace, name }, { signal }))
    if (!live || isOwnedBy(live, dnsData)) continue
    const owner = controllerOf(live)
    // Left behind by a DNSData of this name that is gone: garbage collection takes it, then it is made anew.
    if (owner?.kind === 'DNSData' && owner.name === dnsData.metadata.name) {
      const uid = live.metadata.uid
      await world.client.delete(
        { ...configMaps, namespace, name },
        { signal, ...(uid && { preconditions: { uid } }) },
      )
      continue
    }
    const facts = {
      configMap: key,
      owner: owner ? `${owner.kind} ${owner.name} owns it` : 'no DNSData owns it',
    }
    return finding(configMapTaken, facts)
  }
  return undefined
}

export function statusFor(
  dnsData: DnsData,
  hash: string,
  taken: Finding | undefined,
  now: string,
): DnsDataStatus {
  const wrong = unusableTexts(dnsData)
  const told = finding(hostUnusable, { texts: wrong.slice(0, NAMED), count: wrong.length })
  const conditions = [
    taken
      ? failed('ServiceConfigReady', `Input data error occurred ${taken.code}: ${taken.message}`)
      : done('ServiceConfigReady', 'Input data complete'),
    wrong.length > 0
      ? warned('HostsUsable', `${told.code}: ${told.message}`)
      : done('HostsUsable', 'Every host has an address'),
  ]
  const { generation } = dnsData.metadata
  return {
    conditions: summedUp(conditions, dnsData.status?.conditions, now),
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
  const status = await world.fields.pruned('dnsdata', wanted)
  if (sameJson(dnsData.status ?? {}, status)) return
  const next = { ...dnsData, status }
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status', signal } as const
  const got = (await world.client.update(next, options)) as DnsData
  world.dnsDatas.note(got, dnsData.metadata.resourceVersion ?? '')
}

/** Upstream's finalizer would keep it for ever: nobody else takes it off. */
async function takeLeave(world: DnsWorld, dnsData: DnsData, signal: AbortSignal): Promise<void> {
  await removeMaps(world, keyOf(dnsData.metadata), () => false, signal)
  const { finalizers = [] } = dnsData.metadata
  const left = finalizers.filter((one) => !UPSTREAM_FINALIZERS.includes(one))
  if (left.length === finalizers.length) return
  const next = { ...dnsData, metadata: { ...dnsData.metadata, finalizers: left } }
  await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })
}

/** By our own hand: garbage collection comes later, and not everywhere. */
async function removeMaps(
  world: DnsWorld,
  key: string,
  keep: (configMap: KubeObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const [namespace = ''] = key.split('/')
  for (const one of world.ownMaps.list(namespace)) {
    if (!ownerKeys(one).includes(key) || keep(one)) continue
    const { name, uid } = one.metadata
    await world.client.delete(
      { ...configMaps, namespace, name },
      { signal, ...(uid && { preconditions: { uid } }) },
    )
  }
}
