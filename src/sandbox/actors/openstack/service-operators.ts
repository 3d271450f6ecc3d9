/**
 * Simulates the service operators of a ready control plane: pods with network attachments, KeystoneEndpoints, and Routes. A
 * separate actor, because most deployment tests do not need it.
 */

import { type GroupVersionKind, type KubeObject, objectKey } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { PAUSE_REFERENCE } from '../../images/image-table.ts'
import { type Actor, type ActorDeps, annotation } from '../actor.ts'
import { createMissing } from '../actor-status.ts'
import { buildCatalogue, ENDPOINT, ROUTE } from './catalogue.ts'
import { isReady, SIMULATED } from './control-plane.ts'
import { routeDomain } from './route-domain.ts'
import {
  type AttachedWorkload,
  attachedWorkloads,
  CONTROL_PLANE_CRD,
  crdSource,
  findOverrideSlots,
  podName,
  servedSchema,
} from './spec-schema.ts'

const MANAGER = 'actor-services'
const POD = { apiVersion: 'v1', kind: 'Pod' }
const controlPlanes = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' } }
const services = { kind: { apiVersion: 'v1', kind: 'Service' } }

/** Marks objects that this actor created. */
const CREATED_LABEL = annotation('made')

export const serviceOperators: Actor = {
  simulates: 'the service operators: pods on networks, KeystoneEndpoints, Routes',
  source: 'openstack-operator CreateRoute, nova-, glance- and cinder-operator NewKeystoneEndpoint',
  needs: ['openstack', 'kubelet'],
  addControllers: ({ runtime }: ActorDeps) => {
    const { client, cache } = runtime
    const crds = crdSource(CONTROL_PLANE_CRD)
    const listKeys = (namespace?: string): readonly string[] =>
      cache(controlPlanes)
        .list(namespace)
        .map((controlPlane) => objectKey(controlPlane.metadata))
    runtime.add({
      name: 'openstack-services',
      watches: [
        controlPlanes,
        { ...crds, map: () => listKeys() },
        { ...services, map: ({ metadata }) => listKeys(metadata.namespace) },
        { kind: POD, map: ownerKeys },
      ],
      reconcile: async ({ namespace = '', name }) => {
        const controlPlane = cache(controlPlanes).get(`${namespace}/${name}`)
        if (!controlPlane || controlPlane.metadata.deletionTimestamp !== undefined) return
        const schema = servedSchema(cache(crds).get(CONTROL_PLANE_CRD), 'spec')
        if (!schema || !isReady(controlPlane)) return
        const spec = controlPlane['spec']
        const slots = findOverrideSlots(schema, spec)
        const domain = (await client.resource(ROUTE)) && (await routeDomain(client))
        const { routes, endpoints } = buildCatalogue(slots, namespace, cache(services).list(namespace), domain)
        const pods = attachedWorkloads(schema, spec).map((attachedWorkload) => renderPod(attachedWorkload, namespace))
        await syncObjects(client, ROUTE, routes, controlPlane)
        await syncObjects(client, ENDPOINT, endpoints, controlPlane)
        await syncObjects(client, POD, pods, controlPlane)
      },
    })
  },
}

/** The control plane of a pod that this actor created. */
function ownerKeys({ metadata }: KubeObject): readonly string[] {
  if (metadata.labels?.[CREATED_LABEL] !== 'true') return []
  return (metadata.ownerReferences ?? []).map(({ name }) => `${metadata.namespace}/${name}`)
}

/** A pod that also real nodes run. */
export function renderPod(workload: AttachedWorkload, namespace: string): KubeObject {
  const networks = workload.networks.map((name) => ({ name, namespace, interface: name }))
  return {
    ...POD,
    metadata: {
      name: podName(workload),
      namespace,
      labels: { service: workload.path[0] ?? '' },
      annotations: { 'k8s.v1.cni.cncf.io/networks': JSON.stringify(networks), [SIMULATED]: 'no container runs' },
    },
    spec: { containers: [{ name: workload.path[0] ?? 'service', image: PAUSE_REFERENCE }] },
  }
}

/** Creates missing objects, updates outdated ones, and deletes objects of this actor that are no longer desired. */
async function syncObjects(
  client: KubeClient,
  kind: GroupVersionKind,
  wanted: readonly KubeObject[],
  { apiVersion, kind: ownerKind, metadata: owner }: KubeObject,
): Promise<void> {
  const { name, namespace = '', uid = '' } = owner
  if (!(await client.resource(kind))) return
  const { items } = await client.list(kind, { namespace })
  const isCreatedHere = (object: KubeObject): boolean =>
    object.metadata.labels?.[CREATED_LABEL] === 'true' && object.metadata.deletionTimestamp === undefined
  const live = new Map(items.map((item) => [item.metadata.name, item]))
  const reference = { apiVersion, kind: ownerKind, name, uid, controller: true }
  for (const object of wanted) {
    const { labels, annotations } = object.metadata
    const found = live.get(object.metadata.name)
    live.delete(object.metadata.name)
    const metadata = {
      ...object.metadata,
      labels: { ...labels, [CREATED_LABEL]: 'true' },
      ownerReferences: [reference],
    }
    if (!found) await createMissing(client, found, { ...object, metadata }, MANAGER)
    else if (isCreatedHere(found) && !isUpToDate(found, object)) {
      // Networks are attached when a pod starts, so the pod is created again.
      if (kind === POD) await client.delete({ ...kind, namespace, name: found.metadata.name })
      else
        await client.patch(
          { ...kind, namespace, name: found.metadata.name },
          { metadata: { annotations }, spec: object['spec'] },
          { type: 'merge', fieldManager: MANAGER },
        )
    }
  }
  for (const object of [...live.values()].filter(isCreatedHere))
    await client.delete({ ...kind, namespace, name: object.metadata.name })
}

function isUpToDate(found: KubeObject, wanted: KubeObject): boolean {
  if (wanted.kind !== POD.kind) return containsFields(found['spec'], wanted['spec'])
  return containsFields(found.metadata.annotations, wanted.metadata.annotations)
}

function containsFields(has: unknown, desired: unknown): boolean {
  if (typeof desired !== 'object' || desired === null) return has === desired
  return Object.entries(desired).every(([key, value]) =>
    containsFields((has as Record<string, unknown> | undefined)?.[key], value),
  )
}
