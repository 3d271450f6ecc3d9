/**
 * The DNSMasq controller: keeps everything of a DNSMasq in order but its hosts, which come first and have a controller
 * of their own.
 *
 * A configuration that dnsmasq could not read is not written: the server goes on with the one that it has.
 */

import { type DnsMasq, dnsMasqViolations } from '../../api/dnsmasq.ts'
import { formatTimestamp, type KubeObject, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import { requeueOnConflict } from '../kit/writes.ts'
import { configMaps, deployments, dnsMasqs, FIELD_MANAGER, services, UPSTREAM_FINALIZERS } from './dns-kinds.ts'
import { buildDeployment, childName, type PodPlacement } from './dnsmasq-deployment.ts'
import { accountObjects, configMapObjects, serviceObjects } from './dnsmasq-objects.ts'
import { buildDnsMasqStatus, type DnsMasqState } from './dnsmasq-status.ts'
import { ensure } from './ensure.ts'
import { invalidDnsOption } from './findings.ts'
import { dnsMasqKeys, isHostsPart } from './hosts-controller.ts'
import { releaseTopology, resolveTopology } from './topology.ts'
import { type BroughtHosts, type DnsWorld, sources } from './world.ts'

const TOPOLOGY_RESYNC_MS = 60_000

export function dnsMasqController(world: DnsWorld): Controller {
  /** Parts of hosts are its business when their DNSMasq is gone. */
  const concerned = (map: KubeObject): readonly string[] =>
    dnsMasqKeys(map).filter((key) => !isHostsPart(map) || !world.dnsMasqs.get(key))
  return {
    name: 'dnsmasq',
    workers: 4,
    watches: [
      { kind: dnsMasqs },
      { ...sources.ownMaps, map: concerned },
      { ...sources.deployments, map: dnsMasqKeys },
      ...sources.accounts.map((account) => ({ ...account, map: dnsMasqKeys })),
      { kind: services, map: dnsMasqKeys },
    ],
    reconcile: requeueOnConflict(async (request, context) => {
      const key = objectKey(request)
      const dnsMasq = world.dnsMasqs.get(key)
      const hosts = world.brought.get(key)
      if (!dnsMasq) await reconcileMissing(world, key, context.signal)
      else if (dnsMasq.metadata.deletionTimestamp) await reconcileDelete(world, dnsMasq, context.signal)
      // Without hosts there is nothing to be run yet: who brings them calls.
      else if (hosts) await reconcileNormal(world, dnsMasq, hosts, context)
      // Not every cluster has Topologies, so they are not watched.
      return dnsMasq?.spec.topologyRef?.name ? { requeueAfterMs: TOPOLOGY_RESYNC_MS } : undefined
    }),
  }
}

async function reconcileNormal(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  hosts: BroughtHosts,
  { signal, clock }: ReconcileContext,
): Promise<void> {
  const { client } = world
  const configFindings = invalidOptions(dnsMasq)
  const topology = await resolveTopology(client, dnsMasq, signal)
  const made = serviceObjects(dnsMasq)
  const [live] = await Promise.all([
    Promise.all(made.map((one) => ensure(client, world.services.get(objectKey(one.metadata)), one, signal))),
    deleteUnusedServices(world, dnsMasq, made, signal),
    ensureAccount(world, dnsMasq, signal),
    configFindings.length === 0 ? ensureConfig(world, dnsMasq, signal) : undefined,
  ])
  const deployment =
    configFindings.length === 0 && !topology?.finding
      ? await ensureDeployment(world, dnsMasq, topology?.pods, signal)
      : world.deployments.get(`${dnsMasq.metadata.namespace}/${childName(dnsMasq)}`)
  const standing: DnsMasqState = {
    configFindings,
    hostFindings: hosts.findings,
    services: live.filter((one) => one !== undefined),
    deployment,
    hash: hosts.hash,
    ...(topology && { topology }),
  }
  await writeStatus(world, dnsMasq, standing, { signal, now: formatTimestamp(clock.now()) })
}

function invalidOptions({ spec, metadata }: DnsMasq): readonly Finding[] {
  return dnsMasqViolations(spec, metadata.namespace ?? '')
    .filter((dnsMasqViolation) => dnsMasqViolation.field.startsWith('spec.options'))
    .map(({ field, detail }) => finding(invalidDnsOption, { field, detail }))
}

async function ensureAccount(world: DnsWorld, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  for (const one of accountObjects(dnsMasq)) {
    await ensure(world.client, world.accounts[one.kind]?.get(objectKey(one.metadata)), one, signal)
  }
}

async function ensureConfig(world: DnsWorld, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  for (const one of configMapObjects(dnsMasq)) {
    await ensure(world.client, world.ownMaps.get(objectKey(one.metadata)), one, signal)
  }
}

async function ensureDeployment(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  placement: PodPlacement | undefined,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const wanted = buildDeployment(dnsMasq, placement)
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
async function deleteUnusedServices(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  made: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = dnsMasq.metadata
  const kept = new Set(made.map(({ metadata }) => metadata.name))
  const own = objectKey(dnsMasq.metadata)
  for (const service of world.services.list(namespace)) {
    if (kept.has(service.metadata.name) || !dnsMasqKeys(service).includes(own)) continue
    await world.client.delete({ ...services, namespace, name: service.metadata.name }, { signal })
  }
}

async function writeStatus(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  standing: DnsMasqState,
  { signal, now }: { readonly signal: AbortSignal; readonly now: string },
): Promise<void> {
  const status = await world.fields.prune('dnsmasqs', buildDnsMasqStatus(dnsMasq, standing, now))
  if (sameJson(dnsMasq.status ?? {}, status)) return
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status', signal } as const
  const got = (await world.client.update({ ...dnsMasq, status }, options)) as DnsMasq
  world.dnsMasqs.note(got, dnsMasq.metadata.resourceVersion ?? '')
}

/** Upstream's finalizer would keep it for ever: nobody else takes it off. */
async function reconcileDelete(world: DnsWorld, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  const { finalizers = [] } = dnsMasq.metadata
  const { name } = dnsMasq.status?.lastAppliedTopology ?? {}
  if (name) await releaseTopology(world.client, dnsMasq, name, signal)
  const left = finalizers.filter((finalizer) => !UPSTREAM_FINALIZERS.includes(finalizer))
  if (left.length === finalizers.length) return
  const next = { ...dnsMasq, metadata: { ...dnsMasq.metadata, finalizers: left } }
  await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })
}

/** What it owned goes by garbage collection; its ConfigMaps by our own hand, which is sooner and works everywhere. */
async function reconcileMissing(world: DnsWorld, key: string, signal: AbortSignal): Promise<void> {
  world.forget(key)
  const [namespace = ''] = key.split('/')
  for (const ownMap of world.ownMaps.list(namespace)) {
    if (!dnsMasqKeys(ownMap).includes(key)) continue
    const { name, uid } = ownMap.metadata
    await world.client.delete({ ...configMaps, namespace, name }, { signal, ...(uid && { preconditions: { uid } }) })
  }
}
