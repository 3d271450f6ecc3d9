/**
 * The DNSMasq controller: keeps everything of a DNSMasq in order but its hosts, which come first and have a controller
 * of their own.
 *
 * A configuration that dnsmasq could not read is not written: the server goes on with the one that it has.
 */

import type { DnsMasq } from '../../api/dnsmasq.ts'
import { dnsMasqViolations } from '../../api/dnsmasq-rules.ts'
import { type KubeObject, keyOf, timestamp } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { dnsOptionUnusable } from '../../errors/dns.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import { calmly } from '../calmly.ts'
import { accountOf, configMapsOf, servicesOf } from './children.ts'
import { dnsMasqStatus, type Standing } from './dnsmasq-status.ts'
import { ensure } from './ensure.ts'
import { isPart, serverOf } from './hosts-controller.ts'
import { configMaps, deployments, dnsMasqs, FIELD_MANAGER, services, UPSTREAM_FINALIZERS } from './kinds.ts'
import { childName, deploymentOf, type PodPlacement } from './pod.ts'
import { letGo, placementOf } from './topology.ts'
import { type BroughtHosts, type DnsWorld, sources } from './world.ts'

const TOPOLOGY_LOOK_MS = 60_000

export function dnsMasqController(world: DnsWorld): Controller {
  /** Parts of hosts are its business when their DNSMasq is gone. */
  const concerned = (map: KubeObject): readonly string[] =>
    serverOf(map).filter((key) => !isPart(map) || !world.dnsMasqs.get(key))
  return {
    name: 'dnsmasq',
    workers: 4,
    watches: [
      { kind: dnsMasqs },
      { ...sources.ownMaps, map: concerned },
      { ...sources.deployments, map: serverOf },
      ...sources.accounts.map((one) => ({ ...one, map: serverOf })),
      { kind: services, map: serverOf },
    ],
    reconcile: calmly(async (request, context) => {
      const key = keyOf(request)
      const dnsMasq = world.dnsMasqs.get(key)
      const hosts = world.brought.get(key)
      if (!dnsMasq) await afterwards(world, key, context.signal)
      else if (dnsMasq.metadata.deletionTimestamp) await takeLeave(world, dnsMasq, context.signal)
      // Without hosts there is nothing to be run yet: who brings them calls.
      else if (hosts) await serve(world, dnsMasq, hosts, context)
      // Not every cluster has Topologies, so they are not watched.
      return dnsMasq?.spec.topologyRef?.name ? { requeueAfterMs: TOPOLOGY_LOOK_MS } : undefined
    }),
  }
}

async function serve(
  world: DnsWorld,
  dnsMasq: DnsMasq,
  hosts: BroughtHosts,
  { signal, clock }: ReconcileContext,
): Promise<void> {
  const { client } = world
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
    hostFindings: hosts.findings,
    services: live.filter((one) => one !== undefined),
    deployment,
    hash: hosts.hash,
    ...(topology && { topology }),
  }
  await writeStatus(world, dnsMasq, standing, { signal, now: timestamp(clock.now()) })
}

function unusableOptions({ spec, metadata }: DnsMasq): readonly Finding[] {
  return dnsMasqViolations(spec, metadata.namespace ?? '')
    .filter((one) => one.field.startsWith('spec.options'))
    .map(({ field, detail }) => finding(dnsOptionUnusable, { field, detail }))
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
    if (kept.has(one.metadata.name) || !serverOf(one).includes(own)) continue
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
    if (!serverOf(one).includes(key)) continue
    const { name, uid } = one.metadata
    await world.client.delete(
      { ...configMaps, namespace, name },
      { signal, ...(uid && { preconditions: { uid } }) },
    )
  }
}
