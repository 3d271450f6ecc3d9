/**
 * Plays the operators of the single services, once openstack-operator has their control plane up: a pod for everything
 * that asks for networks, KeystoneEndpoints, and Routes where the cluster has them. What is no longer asked for goes.
 *
 * Beside the actor of openstack-operator and not part of it: whoever only deploys needs none of this.
 */
import type { GroupVersionKind, KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { keyOf } from '../../../kube/key.ts'
import { type Actor, type ActorStage, annotation } from '../actor.ts'
import { createMissing } from '../write.ts'
import { type AttachedWorkload, attachedWorkloads, podNameOf } from './attachments.ts'
import { catalogueOf, ENDPOINT, ROUTE } from './catalogue.ts'
import { isReady, PLAYED } from './control-plane.ts'
import { schemaReader } from './crd-schema.ts'
import { overridePlaces } from './overrides.ts'

const MANAGER = 'actor-services'
const POD = { apiVersion: 'v1', kind: 'Pod' }
const controlPlanes = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' } }
const services = { kind: { apiVersion: 'v1', kind: 'Service' } }

/** A label of what this actor made. */
const MADE = annotation('made')
/** An annotation of the namespace kube-system: the domain of Routes, which OpenShift's ingress settings have. */
const DOMAIN = annotation('domain')
const USUAL_DOMAIN = 'apps.example.com'

export const serviceOperators: Actor = {
  plays: "the services' operators: pods on networks, KeystoneEndpoints, Routes",
  source: 'openstack-operator CreateRoute, nova-, glance- and cinder-operator NewKeystoneEndpoint',
  needs: ['openstack', 'kubelet'],
  enter: ({ runtime }: ActorStage) => {
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
              .map((one) => keyOf(one.metadata)),
        },
        { kind: POD, map: ownerOf },
      ],
      reconcile: async ({ namespace = '', name }) => {
        const controlPlane = cache(controlPlanes).get(`${namespace}/${name}`)
        if (!controlPlane || controlPlane.metadata.deletionTimestamp !== undefined) return
        if (!isReady(controlPlane)) return
        const spec = controlPlane['spec']
        const places = overridePlaces(await schema(), spec)
        const domain = (await client.resource(ROUTE)) && (await domainOf(client))
        const { routes, endpoints } = catalogueOf(places, namespace, cache(services).list(namespace), domain)
        const pods = attachedWorkloads(await schema(), spec).map((one) => podOf(one, namespace))
        await keepExactly(client, ROUTE, routes, controlPlane)
        await keepExactly(client, ENDPOINT, endpoints, controlPlane)
        await keepExactly(client, POD, pods, controlPlane)
      },
    })
  },
}

/** The control plane of a pod that this actor made. */
function ownerOf({ metadata }: KubeObject): readonly string[] {
  if (metadata.labels?.[MADE] !== 'true') return []
  return (metadata.ownerReferences ?? []).map(({ name }) => `${metadata.namespace}/${name}`)
}

async function domainOf(client: KubeClient): Promise<string> {
  const system = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' })
  return system?.metadata.annotations?.[DOMAIN] ?? USUAL_DOMAIN
}

function podOf(workload: AttachedWorkload, namespace: string): KubeObject {
  const networks = workload.networks.map((name) => ({ name, namespace, interface: name }))
  return {
    ...POD,
    metadata: {
      name: podNameOf(workload),
      namespace,
      labels: { service: workload.path[0] ?? '' },
      annotations: {
        'k8s.v1.cni.cncf.io/networks': JSON.stringify(networks),
        [PLAYED]: 'no container runs',
      },
    },
    spec: { containers: [{ name: workload.path[0] ?? 'service', image: 'played' }] },
  }
}

/** Makes what is missing, changes what says something else, deletes what this actor made and nobody wants now. */
async function keepExactly(
  client: KubeClient,
  kind: GroupVersionKind,
  wanted: readonly KubeObject[],
  { apiVersion, kind: ownerKind, metadata: owner }: KubeObject,
): Promise<void> {
  const { name, namespace = '', uid = '' } = owner
  if (!(await client.resource(kind))) return
  const { items } = await client.list(kind, { namespace })
  const made = (one: KubeObject): boolean =>
    one.metadata.labels?.[MADE] === 'true' && one.metadata.deletionTimestamp === undefined
  const live = new Map(items.map((one) => [one.metadata.name, one]))
  const reference = { apiVersion, kind: ownerKind, name, uid, controller: true }
  for (const object of wanted) {
    const { labels, annotations } = object.metadata
    const found = live.get(object.metadata.name)
    live.delete(object.metadata.name)
    const metadata = {
      ...object.metadata,
      labels: { ...labels, [MADE]: 'true' },
      ownerReferences: [reference],
    }
    if (!found) await createMissing(client, found, { ...object, metadata }, MANAGER)
    else if (made(found) && !says(found, object)) {
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

function says(found: KubeObject, wanted: KubeObject): boolean {
  if (wanted.kind !== POD.kind) return covers(found['spec'], wanted['spec'])
  return covers(found.metadata.annotations, wanted.metadata.annotations)
}

function covers(has: unknown, wants: unknown): boolean {
  if (typeof wants !== 'object' || wants === null) return has === wants
  return Object.entries(wants).every(([key, one]) =>
    covers((has as Record<string, unknown> | undefined)?.[key], one),
  )
}
