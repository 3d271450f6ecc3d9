/**
 * The actor of the OpenStack operators for one control plane: from the CR to Services, and from their addresses to
 * its conditions.
 *
 * Follows openstack-operator and lib-common: Services by the names of upstream; annotations are merged and never
 * removed; a LoadBalancer carries the hostname for dnsmasq; an address that is pending is an error of the service;
 * an OpenStackVersion of the same name appears beside it.
 */

import { createHash } from 'node:crypto'
import type { Condition, KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Controller, ReconcileContext } from '../../../kube/controller.ts'
import { objectKey } from '../../../kube/key.ts'
import { type ActorDeps, annotation } from '../actor.ts'
import { createMissing, withTransitionTimes, writeStatus } from '../actor-status.ts'
import { ensureAccess } from './client-access.ts'
import { OPERATOR_VERSION } from './openstack-version.ts'
import { serviceForSlot } from './service-names.ts'
import { findOverrideSlots, type OverrideSlot, schemaReader } from './spec-schema.ts'

export const ACTOR = 'actor-openstack'
const FINALIZER = 'openstack.org/openstackcontrolplane'
export const SIMULATED = annotation('played')
const HOSTNAME = 'dnsmasq.network.openstack.org/hostname'
const controlPlanes = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' } }
const services = { kind: { apiVersion: 'v1', kind: 'Service' } }
const versions = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' } }

export function controlPlaneController({ runtime }: ActorDeps): Controller {
  const { client, cache } = runtime
  const schema = schemaReader(client)
  return {
    name: 'openstack-control-plane',
    watches: [
      controlPlanes,
      {
        ...services,
        map: (service) => affectedControlPlanes(service, cache(controlPlanes).list(service.metadata.namespace ?? '')),
      },
      { ...versions, map: (object) => [objectKey(object.metadata)] },
    ],
    workers: 4,
    reconcile: async ({ namespace = '', name }, context) => {
      const controlPlane = cache(controlPlanes).get(`${namespace}/${name}`)
      if (!controlPlane) return
      if (controlPlane.metadata.deletionTimestamp !== undefined) return removeFinalizer(client, controlPlane)
      if (!controlPlane.metadata.finalizers?.includes(FINALIZER)) await addFinalizer(client, controlPlane)
      const { secret: secretName = 'osp-secret' } = controlPlane['spec'] as { readonly secret?: string }
      const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: secretName })
      if (!secret) {
        await writeStatus(client, controlPlane, inputMissingStatus(controlPlane, secretName, context), ACTOR)
        return { requeueAfterMs: 1_000 }
      }
      const live = cache(services)
      const liveVersion = cache(versions).get(`${namespace}/${name}`)
      await ensureVersion(client, liveVersion, controlPlane)
      const places = findOverrideSlots(await schema(), controlPlane['spec'])
      const dnsMasq = await ensureDnsMasq(client, controlPlane, ACTOR)
      for (const wanted of desiredServices(places, controlPlane, dnsMasq))
        await ensureService(client, live.get(objectKey(wanted.metadata)), wanted)
      if (places.some(({ path }) => path[0] === 'nova')) await ensureConductor(client, controlPlane)
      const owners = dnsMasq ? [controlPlane, dnsMasq] : [controlPlane]
      const own = live.list(namespace).filter(({ metadata }) => owners.some((owner) => isOwnedBy(metadata, owner)))
      const status = buildStatus(controlPlane, places, own, { version: findDeployedVersion(liveVersion), context })
      if ('deployedVersion' in status && !isReady(controlPlane)) await ensureAccess(client, controlPlane, secret, own)
      await writeStatus(client, controlPlane, status, ACTOR)
      return undefined
    },
  }
}

/** The control planes that a Service tells of: its owner, or those beside the DNSMasq that owns it. */
function affectedControlPlanes({ metadata }: KubeObject, beside: readonly KubeObject[]): readonly string[] {
  const owners = metadata.ownerReferences ?? []
  if (owners.some(({ kind }) => kind === 'DNSMasq')) return beside.map((one) => objectKey(one.metadata))
  return owners
    .filter(({ kind }) => kind === 'OpenStackControlPlane')
    .map(({ name }) => `${metadata.namespace}/${name}`)
}

function isOwnedBy(metadata: KubeObject['metadata'], { metadata: owner }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.uid)
}

function desiredServices(
  places: readonly OverrideSlot[],
  controlPlane: KubeObject,
  dnsMasq: KubeObject | undefined,
): readonly KubeObject[] {
  const { namespace = '' } = controlPlane.metadata
  return places.flatMap((place) => {
    const service = serviceForSlot(place)
    if (!service) return []
    const { metadata = {}, spec = {} } = place.override
    const { type = 'ClusterIP' } = spec as { readonly type?: string }
    const owner = (place.path[0] === 'dns' && dnsMasq) || controlPlane
    const { apiVersion, kind } = owner
    const { name, uid = '' } = owner.metadata
    // The DNS server is not registered with itself.
    const hostname =
      type === 'LoadBalancer' && owner === controlPlane ? { [HOSTNAME]: `${service.name}.${namespace}.svc` } : {}
    return [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: service.name,
          namespace,
          labels: { service: service.name.split('-')[0] ?? '', ...metadata.labels },
          annotations: { ...metadata.annotations, ...hostname },
          ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
        },
        spec: {
          ...spec,
          type,
          selector: { service: service.name },
          ports: service.ports.map((port) => ({
            name: `port-${port}`,
            port,
            protocol: port === 53 ? 'UDP' : 'TCP',
          })),
        },
      },
    ]
  })
}

/** lib-common patches in place: changed values win, keys that nobody asks for any more stay for ever. */
async function ensureService(client: KubeClient, live: KubeObject | undefined, wanted: KubeObject): Promise<void> {
  if (!live) return createMissing(client, live, wanted, ACTOR)
  const { annotations = {}, labels = {} } = wanted.metadata
  const type = (wanted['spec'] as { type: string }).type
  const lacks = (want: Readonly<Record<string, string>>, have: Readonly<Record<string, string>> = {}): boolean =>
    Object.entries(want).some(([key, value]) => have[key] !== value)
  const same =
    !lacks(annotations, live.metadata.annotations) &&
    !lacks(labels, live.metadata.labels) &&
    (live['spec'] as { type?: string }).type === type
  if (same) return
  const { namespace = '', name } = wanted.metadata
  const ref = { apiVersion: 'v1', kind: 'Service', namespace, name }
  const patch = { metadata: { annotations, labels }, spec: { type } }
  await client.patch(ref, patch, { type: 'merge', fieldManager: ACTOR })
}

function inputMissingStatus(controlPlane: KubeObject, secret: string, { clock }: ReconcileContext) {
  const message = `Input data error occurred: Secret ${secret} not found`
  const bad = { status: 'False', reason: 'Error', severity: 'Error', message } as const
  const conditions = [
    { type: 'Ready', ...bad },
    { type: 'InputReady', ...bad },
  ]
  return {
    observedGeneration: controlPlane.metadata.generation,
    conditions: withTransitionTimes(controlPlane, conditions, clock.now()),
  }
}

interface StatusInput {
  readonly version: string
  readonly context: ReconcileContext
}

function buildStatus(
  controlPlane: KubeObject,
  places: readonly OverrideSlot[],
  own: readonly KubeObject[],
  { version, context }: StatusInput,
): Readonly<Record<string, unknown>> {
  const wanted = new Set(places.flatMap((place) => serviceForSlot(place)?.name ?? []))
  const missing = [...wanted].filter((name) => !own.some(({ metadata }) => metadata.name === name))
  const pending = own.filter(isPending).map(({ metadata }) => metadata.name)
  const conditions = buildConditions(missing, pending)
  return {
    observedGeneration: controlPlane.metadata.generation,
    conditions: withTransitionTimes(controlPlane, conditions, context.clock.now()),
    ...(conditions[0]?.status === 'True' && { deployedVersion: version, deployedOVNVersion: version }),
  }
}

type Draft = Omit<Condition, 'lastTransitionTime'>

function buildConditions(missing: readonly string[], pending: readonly string[]): readonly [Draft, ...Draft[]] {
  const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const
  const input: Draft = { type: 'InputReady', ...good }
  if (missing.length > 0) {
    const message = `OpenStackControlPlane in progress: ${missing.join(', ')}`
    const waiting = { status: 'False', reason: 'Requested', severity: 'Info', message } as const
    return [{ type: 'Ready', ...waiting }, input, { type: 'OpenStackControlPlaneExposeServiceReady', ...waiting }]
  }
  if (pending.length > 0) {
    const message = `error occurred: ${pending[0]} LoadBalancer IP still pending`
    const bad = { status: 'False', reason: 'Error', severity: 'Error', message } as const
    return [{ type: 'Ready', ...bad }, input, { type: 'OpenStackControlPlaneExposeServiceReady', ...bad }]
  }
  return [{ type: 'Ready', ...good }, input, { type: 'OpenStackControlPlaneExposeServiceReady', ...good }]
}

export function isReady(controlPlane: KubeObject): boolean {
  const { conditions = [] } = (controlPlane['status'] ?? {}) as { conditions?: readonly Condition[] }
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function isPending(service: KubeObject): boolean {
  if ((service['spec'] as { type?: string }).type !== 'LoadBalancer') return false
  const status = service['status'] as { loadBalancer?: { ingress?: readonly unknown[] } } | undefined
  return (status?.loadBalancer?.ingress ?? []).length === 0
}

/** The version of the same name that comes with every control plane; `version.ts` plays its life. */
async function ensureVersion(
  client: KubeClient,
  live: KubeObject | undefined,
  { metadata }: KubeObject,
): Promise<void> {
  const { namespace = '', name } = metadata
  const wanted = { ...versions.kind, metadata: { name, namespace }, spec: { targetVersion: OPERATOR_VERSION } }
  await createMissing(client, live, wanted, ACTOR)
}

function findDeployedVersion(version: KubeObject | undefined): string {
  return (version?.['status'] as { deployedVersion?: string } | undefined)?.deployedVersion ?? OPERATOR_VERSION
}

/** The pod in which hosts are discovered. It runs nowhere, and says so. */
async function ensureConductor(client: KubeClient, { apiVersion, kind, metadata }: KubeObject): Promise<void> {
  const { namespace = '', name, uid = '' } = metadata
  const ref = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'nova-cell0-conductor-0' }
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: ref.name,
      namespace,
      annotations: { [SIMULATED]: 'nothing can be run in this pod' },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { containers: [{ name: 'nova-cell0-conductor', image: 'played' }] },
  }
  await createMissing(client, await client.get(ref), pod, ACTOR)
}

async function addFinalizer(client: KubeClient, object: KubeObject): Promise<void> {
  await setFinalizers(client, object, [...(object.metadata.finalizers ?? []), FINALIZER])
}

/** The Services go with their owner; the finalizer goes first, as the operator's own clean-up is nothing here. */
async function removeFinalizer(client: KubeClient, object: KubeObject): Promise<void> {
  const { finalizers = [] } = object.metadata
  if (finalizers.includes(FINALIZER))
    await setFinalizers(
      client,
      object,
      finalizers.filter((finalizer) => finalizer !== FINALIZER),
    )
}

async function setFinalizers(client: KubeClient, object: KubeObject, finalizers: readonly string[]): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const { name, namespace = '', resourceVersion } = metadata
  const patch = { metadata: { finalizers, resourceVersion } }
  await client.patch({ apiVersion, kind, name, namespace }, patch, { type: 'merge', fieldManager: ACTOR })
}

const DNSMASQ = { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSMasq' }
const TEMPLATE = annotation('template')

/** Made where it is missing, changed where the template was; undefined where there is none, or no such kind. */
export async function ensureDnsMasq(
  client: KubeClient,
  { apiVersion, kind, metadata, ...rest }: KubeObject,
  fieldManager: string,
): Promise<KubeObject | undefined> {
  const { dns } = rest['spec'] as { readonly dns?: { enabled?: boolean; template?: object } }
  if (!dns?.template || dns.enabled === false || !(await client.resource(DNSMASQ))) return undefined
  const { namespace = '', name, uid = '' } = metadata
  const template = createHash('sha256').update(JSON.stringify(dns.template)).digest('hex')
  const live = await client.get({ ...DNSMASQ, namespace, name: 'dns' })
  if (live?.metadata.annotations?.[TEMPLATE] === template) return live
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  const wanted = {
    ...DNSMASQ,
    metadata: {
      name: 'dns',
      namespace,
      annotations: { [TEMPLATE]: template },
      ownerReferences: [owner],
    },
    spec: dns.template,
  }
  return client.apply(wanted, { fieldManager, force: true })
}
