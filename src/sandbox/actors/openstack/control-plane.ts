/**
 * Simulates openstack-operator for one control plane: creates its Services and derives its conditions from their addresses. As
 * in lib-common, annotations are merged and never removed, and a pending address is an error of the service.
 */

import { createHash } from 'node:crypto'
import { type KubeObject, objectKey } from '../../../api/object.ts'
import { getString } from '../../../api/raw-object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Controller, ReconcileContext } from '../../../kube/controller.ts'
import { PAUSE_REFERENCE } from '../../images/image-table.ts'
import type { CloudState } from '../../openstack/cloud.ts'
import { type ActorDeps, annotation } from '../actor.ts'
import { createMissing, withTransitionTimes, writeStatus } from '../actor-status.ts'
import { ensureAccess } from './client-access.ts'
import { OPERATOR_VERSION } from './openstack-version.ts'
import { ensureMessageQueues } from './rabbitmq.ts'
import { addServiceConditions, type DraftCondition, ensureCloud, good } from './real-services.ts'
import { requestAuthority } from './requested-authority.ts'
import { serviceForSlot } from './service-names.ts'
import { CONTROL_PLANE_CRD, crdSource, findOverrideSlots, type OverrideSlot, servedSchema } from './spec-schema.ts'

export const ACTOR = 'actor-openstack'
const FINALIZER = 'openstack.org/openstackcontrolplane'
export const SIMULATED = annotation('played')
const STAGE_ANNOTATION = 'core.openstack.org/deployment-stage'
const HOSTNAME = 'dnsmasq.network.openstack.org/hostname'
const controlPlanes = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' } }
const services = { kind: { apiVersion: 'v1', kind: 'Service' } }
const versions = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' } }

export function controlPlaneController({ runtime, openstack, certManager }: ActorDeps): Controller {
  const { client, cache } = runtime
  const crds = crdSource(CONTROL_PLANE_CRD)
  return {
    name: 'openstack-control-plane',
    watches: [
      controlPlanes,
      {
        ...crds,
        map: () =>
          cache(controlPlanes)
            .list()
            .map(({ metadata }) => objectKey(metadata)),
      },
      {
        ...services,
        map: (service) => affectedControlPlanes(service, cache(controlPlanes).list(service.metadata.namespace ?? '')),
      },
      { ...versions, map: (object) => [objectKey(object.metadata)] },
    ],
    workers: 4,
    reconcile: async ({ namespace = '', name }, context) => {
      const controlPlane = cache(controlPlanes).get(`${namespace}/${name}`)
      const schema = servedSchema(cache(crds).get(CONTROL_PLANE_CRD), 'spec')
      if (!controlPlane || !schema) return
      if (controlPlane.metadata.deletionTimestamp !== undefined) {
        await openstack?.remove(namespace)
        return removeFinalizer(client, controlPlane)
      }
      await ensureFinalizer(client, controlPlane)
      const secret = await findInputs(client, controlPlane, certManager === true, context)
      if (typeof secret === 'number') return { requeueAfterMs: secret }
      if (isStaged(controlPlane)) {
        await writeStatus(client, controlPlane, infrastructureStatus(controlPlane, context), ACTOR)
        return undefined
      }
      const live = cache(services)
      const liveVersion = cache(versions).get(`${namespace}/${name}`)
      await ensureVersion(client, liveVersion, controlPlane)
      const slots = findOverrideSlots(schema, controlPlane['spec'])
      const dnsMasq = await ensureDnsMasq(client, controlPlane, ACTOR)
      for (const wanted of desiredServices(slots, controlPlane, dnsMasq))
        await ensureService(client, live.get(objectKey(wanted.metadata)), wanted)
      await ensureMessageQueues(client, controlPlane, schema, context.clock.now())
      await ensureConductor(client, controlPlane, slots)
      const owners = dnsMasq ? [controlPlane, dnsMasq] : [controlPlane]
      const ownedServices = live
        .list(namespace)
        .filter(({ metadata }) => owners.some((owner) => isOwnedBy(metadata, owner)))
      const input = { client, controlPlane, slots, services: ownedServices, secret, schema }
      const state = isExposed(slots, ownedServices) ? await ensureCloud(openstack, input) : undefined
      const status = buildStatus(controlPlane, slots, ownedServices, {
        version: findDeployedVersion(liveVersion),
        context,
        state,
      })
      if ('deployedVersion' in status && !isReady(controlPlane))
        await ensureAccess(client, controlPlane, secret, ownedServices)
      await writeStatus(client, controlPlane, status, ACTOR)
      return state && requeueFor(state)
    },
  }
}

/** The Secret with the passwords, when there is also an authority; else the time after which to look again, in milliseconds. */
async function findInputs(
  client: KubeClient,
  controlPlane: KubeObject,
  certManager: boolean,
  context: ReconcileContext,
): Promise<KubeObject | number> {
  const { namespace = '' } = controlPlane.metadata
  const name = getString(controlPlane, 'spec', 'secret') ?? 'osp-secret'
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name })
  if (!secret) {
    await writeStatus(client, controlPlane, inputMissingStatus(controlPlane, name, context), ACTOR)
    return 1_000
  }
  return certManager && !(await requestAuthority(client, controlPlane, ACTOR)) ? 500 : secret
}

/** The state of programs changes without an object that could be watched. */
function requeueFor({ kind }: CloudState): { readonly requeueAfterMs: number } {
  return { requeueAfterMs: kind === 'running' ? 5000 : 500 }
}

/** The control planes that a Service affects: its owner, or those in the namespace of the DNSMasq that owns it. */
function affectedControlPlanes({ metadata }: KubeObject, inNamespace: readonly KubeObject[]): readonly string[] {
  const owners = metadata.ownerReferences ?? []
  if (owners.some(({ kind }) => kind === 'DNSMasq')) return inNamespace.map(({ metadata: owner }) => objectKey(owner))
  return owners
    .filter(({ kind }) => kind === 'OpenStackControlPlane')
    .map(({ name }) => `${metadata.namespace}/${name}`)
}

function isOwnedBy(metadata: KubeObject['metadata'], { metadata: owner }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.uid)
}

function desiredServices(
  slots: readonly OverrideSlot[],
  controlPlane: KubeObject,
  dnsMasq: KubeObject | undefined,
): readonly KubeObject[] {
  const { namespace = '' } = controlPlane.metadata
  return slots.flatMap((slot) => {
    const service = serviceForSlot(slot)
    if (!service) return []
    const { metadata = {}, spec = {} } = slot.override
    const { type = 'ClusterIP' } = spec as { readonly type?: string }
    const owner = (slot.path[0] === 'dns' && dnsMasq) || controlPlane
    const { apiVersion, kind } = owner
    const { name, uid = '' } = owner.metadata
    // The DNS server does not register itself.
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
          ports: service.ports.map((port) => ({ name: `port-${port}`, port, protocol: port === 53 ? 'UDP' : 'TCP' })),
        },
      },
    ]
  })
}

/** lib-common patches in slot: values are updated, but keys are never removed. */
async function ensureService(client: KubeClient, live: KubeObject | undefined, wanted: KubeObject): Promise<void> {
  if (!live) return createMissing(client, live, wanted, ACTOR)
  const { annotations = {}, labels = {} } = wanted.metadata
  const type = (wanted['spec'] as { type: string }).type
  const lacks = (desired: Readonly<Record<string, string>>, current: Readonly<Record<string, string>> = {}): boolean =>
    Object.entries(desired).some(([key, value]) => current[key] !== value)
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

function isStaged({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[STAGE_ANNOTATION] === 'infrastructure-only'
}

/** A staged deployment: databases, message queues and OVN run, services wait until the annotation is removed. */
function infrastructureStatus(controlPlane: KubeObject, { clock }: ReconcileContext) {
  const waiting = { status: 'Unknown', reason: 'Init', message: 'deployment stage infrastructure-only' } as const
  const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const
  const conditions = [
    { type: 'Ready', ...waiting },
    { type: 'OpenStackControlPlaneInfrastructureReady', ...good },
  ]
  return {
    observedGeneration: controlPlane.metadata.generation,
    conditions: withTransitionTimes(controlPlane, conditions, clock.now()),
  }
}

interface StatusInput {
  readonly version: string
  readonly context: ReconcileContext
  /** That of the services, where they run. */
  readonly state: CloudState | undefined
}

function buildStatus(
  controlPlane: KubeObject,
  slots: readonly OverrideSlot[],
  ownedServices: readonly KubeObject[],
  { version, context, state }: StatusInput,
): Readonly<Record<string, unknown>> {
  const pending = ownedServices.filter(isPending).map(({ metadata }) => metadata.name)
  const exposed = buildConditions(listMissing(slots, ownedServices), pending)
  const conditions = state === undefined ? exposed : addServiceConditions(exposed, state)
  return {
    observedGeneration: controlPlane.metadata.generation,
    conditions: withTransitionTimes(controlPlane, conditions, context.clock.now()),
    ...(conditions[0]?.status === 'True' && { deployedVersion: version, deployedOVNVersion: version }),
  }
}

/** Whether all Services exist and have their addresses. */
function isExposed(slots: readonly OverrideSlot[], ownedServices: readonly KubeObject[]): boolean {
  return listMissing(slots, ownedServices).length === 0 && !ownedServices.some(isPending)
}

function listMissing(slots: readonly OverrideSlot[], ownedServices: readonly KubeObject[]): readonly string[] {
  const wanted = new Set(slots.flatMap((slot) => serviceForSlot(slot)?.name ?? []))
  return [...wanted].filter((name) => !ownedServices.some(({ metadata }) => metadata.name === name))
}

function buildConditions(
  missing: readonly string[],
  pending: readonly string[],
): readonly [DraftCondition, ...DraftCondition[]] {
  const input: DraftCondition = { type: 'InputReady', ...good }
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
  const { conditions = [] } = (controlPlane['status'] ?? {}) as {
    conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function isPending(service: KubeObject): boolean {
  if ((service['spec'] as { type?: string }).type !== 'LoadBalancer') return false
  const status = service['status'] as { loadBalancer?: { ingress?: readonly unknown[] } } | undefined
  return (status?.loadBalancer?.ingress ?? []).length === 0
}

/** Every control plane has an OpenStackVersion of the same name; `openstack-version.ts` simulates its updates. */
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

/** The pod in which hosts are discovered. No container runs. */
async function ensureConductor(
  client: KubeClient,
  { apiVersion, kind, metadata }: KubeObject,
  slots: readonly OverrideSlot[],
): Promise<void> {
  if (!slots.some(({ path }) => path[0] === 'nova')) return
  const { namespace = '', name, uid = '' } = metadata
  const ref = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'nova-cell0-conductor-0' }
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: ref.name,
      namespace,
      annotations: { [SIMULATED]: 'no command can run in this pod' },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { containers: [{ name: 'nova-cell0-conductor', image: PAUSE_REFERENCE }] },
  }
  await createMissing(client, await client.get(ref), pod, ACTOR)
}

async function ensureFinalizer(client: KubeClient, object: KubeObject): Promise<void> {
  const { finalizers = [] } = object.metadata
  if (!finalizers.includes(FINALIZER)) await setFinalizers(client, object, [...finalizers, FINALIZER])
}

/** Services are garbage-collected with their owner, so only the finalizer has to be removed. */
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

/** Creates or updates the DNSMasq of a control plane. Its server need not run, so the actor also creates its Service. */
async function ensureDnsMasq(
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
    metadata: { name: 'dns', namespace, annotations: { [TEMPLATE]: template }, ownerReferences: [owner] },
    spec: dns.template,
  }
  return client.apply(wanted, { fieldManager, force: true })
}
