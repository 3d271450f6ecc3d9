/**
 * Reconciles everything of a DNSMasq but its hosts: account, configuration, Services, Deployment, status.
 *
 * A configuration that dnsmasq could not read is not written: the server keeps the one that it has.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import { type DnsMasq, dnsMasqViolations } from '../../api/dnsmasq.ts'
import { formatTimestamp, type KubeObject, objectKey } from '../../api/object.ts'
import { isOwnedBy } from '../../api/ownership.ts'
import { sameJson } from '../../api/same-json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import type { Contents } from '../kit/contents.ts'
import { findInTheWay, IN_THE_WAY_RESYNC_MS, tryOwnedWrite } from '../kit/ownership.ts'
import { requeueOnConflict, type Writer } from '../kit/writes.ts'
import {
  configMaps,
  deployments as deploymentKind,
  dnsDatas as dnsDataKind,
  dnsMasqs as dnsMasqKind,
  serviceAccounts,
  services as serviceKind,
  sources,
} from './dns-kinds.ts'
import { buildDeployment, childName, type PodPlacement } from './dnsmasq-deployment.ts'
import { configMapObjects, serviceAccount, serviceObjects } from './dnsmasq-objects.ts'
import { buildDnsMasqStatus, type RefusedWrite } from './dnsmasq-status.ts'
import { invalidDnsOption } from './findings.ts'
import { dnsMasqKeys, isHostsPart, type PublishedHosts } from './hosts-controller.ts'
import { removeUpstreamFinalizers } from './owned-objects.ts'
import type { ServedFields } from './served-fields.ts'
import { dnsMasqForServices, serviceDnsData } from './service-dns-controller.ts'
import { releaseTopology, resolveTopology } from './topology.ts'

const TOPOLOGY_RESYNC_MS = 60_000

export interface DnsMasqControllerDeps {
  readonly client: Pick<KubeClient, 'get' | 'update' | 'delete'>
  readonly writer: Writer
  readonly dnsMasqs: SharedCache<DnsMasq>
  readonly dnsDatas: CacheReader<DnsData>
  /** Metadata only. */
  readonly ownMaps: CacheReader
  readonly ownContents: Pick<Contents, 'read'>
  readonly services: CacheReader
  readonly deployments: CacheReader
  readonly accounts: CacheReader
  readonly published: ReadonlyMap<string, PublishedHosts>
  readonly servedFields: ServedFields
}

export function dnsMasqController(deps: DnsMasqControllerDeps): Controller {
  const { dnsMasqs, published } = deps
  /** ConfigMaps with hosts concern this controller only when their DNSMasq is gone. */
  const mapConfigMap = (configMap: KubeObject): readonly string[] =>
    dnsMasqKeys(configMap).filter((key) => !isHostsPart(configMap) || !dnsMasqs.get(key))
  return {
    name: 'dnsmasq',
    workers: 4,
    watches: [
      { kind: dnsMasqKind },
      { ...sources.ownMaps, map: mapConfigMap },
      { ...sources.deployments, map: dnsMasqKeys },
      { ...sources.accounts, map: dnsMasqKeys },
      { kind: serviceKind, map: dnsMasqKeys },
      { kind: dnsDataKind, map: dnsMasqForServices },
    ],
    reconcile: requeueOnConflict(async (request, context) => {
      const key = objectKey(request)
      const dnsMasq = dnsMasqs.get(key)
      const hosts = published.get(key)
      if (!dnsMasq) await reconcileMissing(deps, key, context.signal)
      else if (dnsMasq.metadata.deletionTimestamp) await reconcileDelete(deps, dnsMasq, context.signal)
      // Without hosts there is nothing to run: the hosts controller enqueues the key when it has published them.
      else if (hosts && (await reconcileNormal(deps, dnsMasq, hosts, context)) === 'refused')
        return { requeueAfterMs: IN_THE_WAY_RESYNC_MS }
      // Not every cluster has Topologies, so they are not watched.
      return dnsMasq?.spec.topologyRef?.name ? { requeueAfterMs: TOPOLOGY_RESYNC_MS } : undefined
    }),
  }
}

async function reconcileNormal(
  deps: DnsMasqControllerDeps,
  dnsMasq: DnsMasq,
  hosts: PublishedHosts,
  { signal, clock }: ReconcileContext,
): Promise<'complete' | 'refused'> {
  const configFindings = findViolations(dnsMasq)
  const topology = await resolveTopology(deps.client, dnsMasq, signal)
  const refused: RefusedWrite[] = []
  const applyAll = async (
    objects: readonly KubeObject[],
    read: (key: string) => KubeObject | undefined | Promise<KubeObject | undefined>,
  ): Promise<readonly KubeObject[]> => {
    const written: KubeObject[] = []
    for (const object of objects) {
      const live = await read(objectKey(object.metadata))
      const write = await tryOwnedWrite(deps.writer.applyIfChanged(live, object, signal))
      if (write.kind === 'written') written.push(write.result)
      else refused.push({ kind: object.kind, finding: write.finding })
    }
    return written
  }
  const desiredServices = serviceObjects(dnsMasq)
  const [services] = await Promise.all([
    applyAll(desiredServices, deps.services.get),
    deleteUnusedServices(deps, dnsMasq, desiredServices, signal),
    applyAll([serviceAccount(dnsMasq)], deps.accounts.get),
    configFindings.length === 0
      ? applyAll(configMapObjects(dnsMasq), (key) => deps.ownContents.read(key, signal))
      : undefined,
  ])
  // The controller of Services cannot write the DNSData with their names either.
  const dnsData = serviceDnsData(dnsMasq, [])
  const inTheWay = findInTheWay(deps.dnsDatas.get(objectKey(dnsData.metadata)), dnsData)
  if (inTheWay) refused.push({ kind: dnsData.kind, finding: inTheWay })
  // Pods must not start with a configuration or an account of another owner.
  const isBlocked = configFindings.length > 0 || topology?.finding !== undefined || refused.some(blocksPods)
  const deployment = isBlocked
    ? deps.deployments.get(`${dnsMasq.metadata.namespace}/${childName(dnsMasq)}`)
    : await ensureDeployment(deps, dnsMasq, topology?.pods, refused, signal)
  const { hash, findings: hostFindings } = hosts
  const state = { configFindings, hostFindings, services, deployment, hash, refused, ...(topology && { topology }) }
  const status = buildDnsMasqStatus(dnsMasq, state, formatTimestamp(clock.now()))
  await deps.writer.updateStatus(deps.dnsMasqs, dnsMasq, await deps.servedFields.prune('dnsmasqs', status), signal)
  return refused.length > 0 ? 'refused' : 'complete'
}

const blocksPods = ({ kind }: RefusedWrite): boolean =>
  [configMaps.kind, serviceAccounts.kind].some((blocking) => blocking === kind)

/** The rules of the webhook, which may not be registered. */
function findViolations({ spec, metadata }: DnsMasq): readonly Finding[] {
  return dnsMasqViolations(spec, metadata.namespace ?? '').map(({ field, detail }) =>
    finding(invalidDnsOption, { field, detail }),
  )
}

async function ensureDeployment(
  { client, writer, deployments }: DnsMasqControllerDeps,
  dnsMasq: DnsMasq,
  placement: PodPlacement | undefined,
  refused: RefusedWrite[],
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const desired = buildDeployment(dnsMasq, placement)
  const { namespace = '', name } = desired.metadata
  const ref = { ...deploymentKind, namespace, name }
  const live = deployments.get(`${namespace}/${name}`) ?? (await client.get(ref, { signal }))
  const selector = (object: KubeObject): unknown => (object['spec'] as { readonly selector?: unknown }).selector
  const isReplaced = live && isOwnedBy(live, dnsMasq) && !sameJson(selector(live), selector(desired))
  if (isReplaced) {
    // Upstream's selector matches the pods of every DNSMasq. It is immutable, so the Deployment is replaced.
    const { uid } = live.metadata
    await client.delete(ref, { signal, propagation: 'Background', ...(uid && { preconditions: { uid } }) })
  }
  const write = await tryOwnedWrite(writer.applyIfChanged(isReplaced ? undefined : live, desired, signal))
  if (write.kind === 'written') return write.result
  refused.push({ kind: desired.kind, finding: write.finding })
  return undefined
}

/** Deletes the Services of endpoints that are no longer requested. */
async function deleteUnusedServices(
  { writer, services }: DnsMasqControllerDeps,
  dnsMasq: DnsMasq,
  desired: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const keptNames = new Set(desired.map(({ metadata }) => metadata.name))
  for (const service of services.list(dnsMasq.metadata.namespace ?? '')) {
    if (keptNames.has(service.metadata.name) || !isOwnedBy(service, dnsMasq)) continue
    await writer.delete({ ...service, ...serviceKind }, signal)
  }
}

async function reconcileDelete(deps: DnsMasqControllerDeps, dnsMasq: DnsMasq, signal: AbortSignal): Promise<void> {
  const { name } = dnsMasq.status?.lastAppliedTopology ?? {}
  if (name) await releaseTopology(deps.client, dnsMasq, name, signal)
  await removeUpstreamFinalizers(deps.writer, deps.dnsMasqs, dnsMasq, signal)
}

/** Deletes the ConfigMaps, sooner than garbage collection and in every cluster; the rest is left to it. */
async function reconcileMissing(
  { writer, ownMaps }: DnsMasqControllerDeps,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const [namespace = ''] = key.split('/')
  for (const configMap of ownMaps.list(namespace)) {
    if (dnsMasqKeys(configMap).includes(key)) await writer.delete({ ...configMap, ...configMaps }, signal)
  }
}
