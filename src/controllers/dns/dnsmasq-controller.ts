/**
 * The DNSMasq controller: gathers its hosts, writes the parts that changed, and keeps everything else in order.
 *
 * The hosts come first, because somebody waits for them. A configuration that dnsmasq could not read is not written:
 * the server goes on with the one that it has.
 */
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { dnsMasqViolations } from '../../api/dnsmasq-rules.ts'
import { type KubeObject, keyOf } from '../../api/object.ts'
import { dnsOptionUnusable, hostsTooMany } from '../../errors/dns.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import { sameJson } from '../ipam/reservation.ts'
import { accountOf, configMapsOf, hostPartsOf, servicesOf } from './children.ts'
import { timestamp } from './conditions.ts'
import { dnsMasqStatus, type Standing } from './dnsmasq-status.ts'
import { type Edition, filesOf, nextEdition, readEdition } from './editions.ts'
import { ensure, ensureData } from './ensure.ts'
import { CONFIG_MAP_BYTES } from './hosts.ts'
import {
  configMaps,
  controllerOf,
  deployments,
  dnsDatas,
  dnsMasqs,
  FIELD_MANAGER,
  pods,
  services,
  UPSTREAM_FINALIZERS,
} from './kinds.ts'
import { childName, deploymentOf, indexName, type PodPlacement, podLabels, shardName } from './pod.ts'
import type { Served } from './shards.ts'
import { sourcesOf } from './sources.ts'
import { letGo, placementOf } from './topology.ts'
import { type DnsWorld, serversOf, sources } from './world.ts'

const CONFLICT_PAUSE_MS = 100
const TOPOLOGY_LOOK_MS = 60_000
const HOSTS_ANNOTATION = 'stackloom.dev/hosts'

export function dnsMasqController(world: DnsWorld): Controller {
  const neighbours = ({ metadata }: KubeObject): readonly string[] => serversOf(world, metadata.namespace)
  return {
    name: 'dnsmasq',
    workers: 4,
    watches: [
      { kind: dnsMasqs },
      { kind: dnsDatas, map: neighbours },
      { ...sources.hostMaps, map: neighbours },
      { ...sources.ownMaps, map: ownerKeys },
      { ...sources.deployments, map: ownerKeys },
      ...sources.accounts.map((one) => ({ ...one, map: ownerKeys })),
      { kind: services, map: ownerKeys },
      { ...sources.pods, map: () => [] },
    ],
    reconcile: async (request, context) => {
      const key = keyOf(request)
      const dnsMasq = world.dnsMasqs.get(key)
      try {
        if (!dnsMasq) await afterwards(world, key, context.signal)
        else if (dnsMasq.metadata.deletionTimestamp) await takeLeave(world, dnsMasq, context.signal)
        else await serve(world, dnsMasq, context)
        // Not every cluster has Topologies, so they are not watched.
        if (dnsMasq?.spec.topologyRef?.name) return { requeueAfterMs: TOPOLOGY_LOOK_MS }
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
  return owner?.kind === 'DNSMasq' ? [`${object.metadata.namespace}/${owner.name}`] : []
}

async function serve(world: DnsWorld, dnsMasq: DnsMasq, { signal, clock }: ReconcileContext): Promise<void> {
  const { client } = world
  const served = servedHosts(world, dnsMasq)
  const hostFindings = tooMany(served)
  if (hostFindings.length === 0) {
    const writing = writeHosts(world, dnsMasq, served, { signal, now: clock.now() })
    world.hostsWritten.set(
      dnsMasq.metadata.namespace ?? '',
      writing.catch(() => {}),
    )
    await writing
  }
  const hastened = hasten(world, dnsMasq, served.hash, signal)
  // Heard below: what it could not do keeps nothing else from being done.
  hastened.catch(() => {})
  const configFindings = unusableOptions(dnsMasq)
  const topology = await placementOf(client, dnsMasq, signal)
  const made = servicesOf(dnsMasq)
  const [live] = await Promise.all([
    Promise.all(made.map((one) => ensure(client, world.services.get(keyOf(one.metadata)), one, signal))),
    dropOtherServices(world, dnsMasq, made, signal),
    ensureAccount(world, dnsMasq, signal),
    configFindings.length === 0 ? ensureConfig(world, dnsMasq, signal) : undefined,
  ])
  const deployment =
    configFindings.length === 0 && !topology?.finding
      ? await ensureDeployment(world, dnsMasq, topology?.pods, signal)
      : world.deployments.get(`${dnsMasq.metadata.namespace}/${childName(dnsMasq)}`)
  const standing: Standing = {
    configFindings,
    hostFindings,
    services: live.filter((one) => one !== undefined),
    deployment,
    hash: served.hash,
    ...(topology && { topology }),
  }
  await writeStatus(world, dnsMasq, standing, { signal, now: timestamp(clock.now()) })
  await hastened
}

function servedHosts(world: DnsWorld, dnsMasq: DnsMasq): Served {
  const { namespace = '' } = dnsMasq.metadata
  const hosts = { dnsDatas: world.dnsDatas.list(namespace), configMaps: world.hostMaps.list(namespace) }
  return world.sharder(keyOf(dnsMasq.metadata)).serve(sourcesOf(dnsMasq, hosts, world.text))
}

function tooMany({ shards }: Served): readonly Finding[] {
  const bytes = Math.max(...shards.map(({ text }) => Buffer.byteLength(text)))
  return bytes > CONFIG_MAP_BYTES ? [finding(hostsTooMany, { bytes, most: CONFIG_MAP_BYTES })] : []
}

function unusableOptions({ spec, metadata }: DnsMasq): readonly Finding[] {
  return dnsMasqViolations(spec, metadata.namespace ?? '')
    .filter((one) => one.field.startsWith('spec.options'))
    .map(({ field, detail }) => finding(dnsOptionUnusable, { field, detail }))
}

/** All at once: a pod that needs the parts waits until it has those that belong together. */
async function writeHosts(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  served: Served,
  { signal, now }: { readonly signal: AbortSignal; readonly now: number },
): Promise<void> {
  // Numbered by the time where there is none before it: no pod may take it for one that it has.
  const edition = nextEdition(liveEdition(world, dnsMasq), served, now)
  const parts = hostPartsOf(dnsMasq, edition)
  await Promise.all(parts.map((one) => ensureData(world.client, world.ownMaps, one, signal)))
  world.editions.set(keyOf(dnsMasq.metadata), edition)
}

/** The edition that the cluster has: the one that we remember, if it is that one; else it is read. */
function liveEdition(world: DnsWorld, dnsMasq: DnsMasq): Edition | undefined {
  const { namespace } = dnsMasq.metadata
  const dataOf = (name: string): Readonly<Record<string, string>> =>
    (world.ownMaps.get(`${namespace}/${name}`)?.['data'] ?? {}) as Readonly<Record<string, string>>
  const live = dataOf(indexName(dnsMasq))
  const known = world.editions.get(keyOf(dnsMasq.metadata))
  if (known && sameJson(live, filesOf(known))) return known
  return readEdition(live, (number) => dataOf(shardName(dnsMasq, number)))
}

async function ensureAccount(world: DnsWorld, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  for (const one of accountOf(dnsMasq)) {
    await ensure(world.client, world.accounts[one.kind]?.get(keyOf(one.metadata)), one, signal)
  }
}

async function ensureConfig(world: DnsWorld, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  for (const one of configMapsOf(dnsMasq)) {
    await ensure(world.client, world.ownMaps.get(keyOf(one.metadata)), one, signal)
  }
}

async function ensureDeployment(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  placement: PodPlacement | undefined,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const wanted = deploymentOf(dnsMasq, placement)
  const { namespace = '', name } = wanted.metadata
  const ref = { ...deployments, namespace, name }
  const live = world.deployments.get(`${namespace}/${name}`) ?? (await world.client.get(ref, { signal }))
  const selector = (of: KubeObject): unknown => (of['spec'] as { readonly selector?: unknown }).selector
  if (live && !sameJson(selector(live), selector(wanted))) {
    // Upstream's, whose selector is that of every DNSMasq: it cannot be changed, only replaced.
    await world.client.delete(ref, { signal, propagation: 'Background' })
    return ensure(world.client, undefined, wanted, signal)
  }
  return ensure(world.client, live, wanted, signal)
}

/** Services of pools that are not asked for any more. */
async function dropOtherServices(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  made: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = dnsMasq.metadata
  const kept = new Set(made.map(({ metadata }) => metadata.name))
  const own = keyOf(dnsMasq.metadata)
  for (const one of world.services.list(namespace)) {
    if (kept.has(one.metadata.name) || !ownerKeys(one).includes(own)) continue
    await world.client.delete({ ...services, namespace, name: one.metadata.name }, { signal })
  }
}

async function writeStatus(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  standing: Standing,
  { signal, now }: { readonly signal: AbortSignal; readonly now: string },
): Promise<void> {
  const status = await world.fields.pruned('dnsmasqs', dnsMasqStatus(dnsMasq, standing, now))
  if (sameJson(dnsMasq.status ?? {}, status)) return
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status', signal } as const
  const got = (await world.client.update({ ...dnsMasq, status }, options)) as DnsMasq
  world.dnsMasqs.note(got, dnsMasq.metadata.resourceVersion ?? '')
}

/** A kubelet looks at a pod's volumes once a minute, and at once when the pod changes: an annotation is a change. */
async function hasten(world: DnsWorld, dnsMasq: DnsMasq, hash: string, signal: AbortSignal): Promise<void> {
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

/** Upstream's finalizer would keep it for ever: nobody else takes it off. */
async function takeLeave(world: DnsWorld, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  const { finalizers = [] } = dnsMasq.metadata
  const { name } = dnsMasq.status?.lastAppliedTopology ?? {}
  if (name) await letGo(world.client, dnsMasq, name, signal)
  const left = finalizers.filter((one) => !UPSTREAM_FINALIZERS.includes(one))
  if (left.length === finalizers.length) return
  const next = { ...dnsMasq, metadata: { ...dnsMasq.metadata, finalizers: left } }
  await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })
}

/** What it owned goes by garbage collection; its ConfigMaps by our own hand, which is sooner and works everywhere. */
async function afterwards(world: DnsWorld, key: string, signal: AbortSignal): Promise<void> {
  world.forget(key)
  const [namespace = ''] = key.split('/')
  for (const one of world.ownMaps.list(namespace)) {
    if (!ownerKeys(one).includes(key)) continue
    const { name, uid } = one.metadata
    await world.client.delete(
      { ...configMaps, namespace, name },
      { signal, ...(uid && { preconditions: { uid } }) },
    )
  }
}
