/**
 * Plays the operators of the single services, once openstack-operator has their control plane up: a pod for everything
 * that asks for networks, KeystoneEndpoints, and Routes where the cluster has them. What is no longer asked for goes.
 *
 * Beside the actor of openstack-operator and not part of it: whoever only deploys needs none of this.
 */
import type { GroupVersionKind, KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { objectKey } from '../../../kube/key.ts'
import { type Actor, type ActorDeps, annotation } from '../actor.ts'
import { createMissing } from '../actor-status.ts'
import { buildCatalogue, ENDPOINT, ROUTE } from './catalogue.ts'
import { isReady, SIMULATED } from './control-plane.ts'
import { type AttachedWorkload, attachedWorkloads, findOverrideSlots, podName, schemaReader } from './spec-schema.ts'

const MANAGER = 'actor-services'
const POD = { apiVersion: 'v1', kind: 'Pod' }
const controlPlanes = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' } }
const services = { kind: { apiVersion: 'v1', kind: 'Service' } }

/** A label of what this actor made. */
const CREATED_LABEL = annotation('made')
/** An annotation of the namespace kube-system: the domain of Routes, which OpenShift's ingress settings have. */
const DOMAIN = annotation('domain')
const DEFAULT_DOMAIN = 'apps.example.com'

export const serviceOperators: Actor = {
  simulates: "the services' operators: pods on networks, KeystoneEndpoints, Routes",
  source: 'openstack-operator CreateRoute, nova-, glance- and cinder-operator NewKeystoneEndpoint',
  needs: ['openstack', 'kubelet'],
  addControllers: ({ runtime }: ActorDeps) => {
    const { client, cache } = runtime
    const schema = schemaReader(client)
    runtime.add({
      name: 'openstack-services',
      watches: [
        controlPlanes,
        {
          ...services,
          map: ({ metadata }) =>
            cache(controlPlanes)
              .list(metadata.namespace ?? '')
              .map((one) => objectKey(one.metadata)),
        },
        { kind: POD, map: ownerKeys },
      ],
      reconcile: async ({ namespace = '', name }) => {
        const controlPlane = cache(controlPlanes).get(`${namespace}/${name}`)
        if (!controlPlane || controlPlane.metadata.deletionTimestamp !== undefined) return
        if (!isReady(controlPlane)) return
        const spec = controlPlane['spec']
        const places = findOverrideSlots(await schema(), spec)
        const domain = (await client.resource(ROUTE)) && (await routeDomain(client))
        const { routes, endpoints } = buildCatalogue(places, namespace, cache(services).list(namespace), domain)
        const pods = attachedWorkloads(await schema(), spec).map((attachedWorkload) =>
          renderPod(attachedWorkload, namespace),
        )
        await syncObjects(client, ROUTE, routes, controlPlane)
        await syncObjects(client, ENDPOINT, endpoints, controlPlane)
        await syncObjects(client, POD, pods, controlPlane)
      },
    })
  },
}

/** The control plane of a pod that this actor made. */
function ownerKeys({ metadata }: KubeObject): readonly string[] {
  if (metadata.labels?.[CREATED_LABEL] !== 'true') return []
  return (metadata.ownerReferences ?? []).map(({ name }) => `${metadata.namespace}/${name}`)
}

async function routeDomain(client: KubeClient): Promise<string> {
  const system = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' })
  return system?.metadata.annotations?.[DOMAIN] ?? DEFAULT_DOMAIN
}

function renderPod(workload: AttachedWorkload, namespace: string): KubeObject {
  const networks = workload.networks.map((name) => ({ name, namespace, interface: name }))
  return {
    ...POD,
    metadata: {
      name: podName(workload),
      namespace,
      labels: { service: workload.path[0] ?? '' },
      annotations: {
        'k8s.v1.cni.cncf.io/networks': JSON.stringify(networks),
        [SIMULATED]: 'no container runs',
      },
    },
    spec: { containers: [{ name: workload.path[0] ?? 'service', image: 'played' }] },
  }
}

/** Makes what is missing, changes what says something else, deletes what this actor made and nobody wants now. */
async function syncObjects(
  client: KubeClient,
  kind: GroupVersionKind,
  wanted: readonly KubeObject[],
  { apiVersion, kind: ownerKind, metadata: owner }: KubeObject,
): Promise<void> {
  const { name, namespace = '', uid = '' } = owner
  if (!(await client.resource(kind))) return
  const { items } = await client.list(kind, { namespace })
  const made = (one: KubeObject): boolean =>
    one.metadata.labels?.[CREATED_LABEL] === 'true' && one.metadata.deletionTimestamp === undefined
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
    else if (made(found) && !isUpToDate(found, object)) {
      // What a pod asks for is read when it starts: it is made anew, as a rollout would.
      if (kind === POD) await client.delete({ ...kind, namespace, name: found.metadata.name })
      else
        await client.patch(
          { ...kind, namespace, name: found.metadata.name },
          { metadata: { annotations }, spec: object['spec'] },
          { type: 'merge', fieldManager: MANAGER },
        )
    }
  }
  for (const one of [...live.values()].filter(made))
    await client.delete({ ...kind, namespace, name: one.metadata.name })
}

function isUpToDate(found: KubeObject, wanted: KubeObject): boolean {
  if (wanted.kind !== POD.kind) return containsFields(found['spec'], wanted['spec'])
  return containsFields(found.metadata.annotations, wanted.metadata.annotations)
}

function containsFields(has: unknown, wants: unknown): boolean {
  if (typeof wants !== 'object' || wants === null) return has === wants
  return Object.entries(wants).every(([key, one]) =>
    containsFields((has as Record<string, unknown> | undefined)?.[key], one),
  )
}
