/** The part that brings OpenStack services to nodes outside the cluster: roles, nodes, service objects, runs. */

import { crdOf, type KindDefinition } from '../../api/crd.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../../api/dataplane-node.ts'
import { type DataPlaneRole, dataPlaneRoles } from '../../api/dataplane-role.ts'
import { ipSets } from '../../api/ipset.ts'
import { netConfigs, networkGroup } from '../../api/netconfig.ts'
import { type GroupVersionKind, keyOf } from '../../api/object.ts'
import type { ServiceAnnotation } from '../../api/service-annotation.ts'
import type { ServiceObject } from '../../api/service-cr.ts'
import { dataPlaneControllers } from '../../controllers/dataplane/controllers.ts'
import { bareMetalHosts } from '../../controllers/dataplane/machines/bare-metal.ts'
import { novaControlPlane } from '../../controllers/dataplane/nova-control-plane.ts'
import { startRuns } from '../../controllers/dataplane/runs/start.ts'
import { byRole, createWorld, FINALIZER, type World } from '../../controllers/dataplane/world.ts'
import { dnsDatas, dnsMasqs } from '../../controllers/dns/kinds.ts'
import { nodeSetInstalled } from '../../errors/dataplane.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import { nodeServices } from '../../node-services/all.ts'
import type { ServiceDefinition } from '../../node-services/definition.ts'
import { frameKinds, groupVersionKindOf, kindsOf, servedKinds, standIns } from '../../node-services/kinds.ts'
import type { DataPlaneParts, DataPlaneView } from '../../webhooks/data-plane-view.ts'
import { dataPlaneHandlers, dataPlaneWebhooks } from '../../webhooks/data-plane-webhooks.ts'
import type { OperatorPart, PartContext, Rule } from './part.ts'

/** Kinds of others that nodes use where they are served. */
const surroundings: readonly GroupVersionKind[] = [bareMetalHosts, netConfigs, ipSets, dnsMasqs, dnsDatas]

const write = ({ group, plural }: KindDefinition): readonly Rule[] => [
  {
    apiGroups: [group],
    resources: [plural],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: [group], resources: [`${plural}/status`, `${plural}/finalizers`], verbs: ['update'] },
]
const read = ({ group, plural }: KindDefinition): Rule => ({
  apiGroups: [group],
  resources: [plural],
  verbs: ['get', 'list', 'watch'],
})

export function dataPlanePartOf(services: readonly ServiceDefinition[]): OperatorPart {
  return {
    name: 'dataplane',
    kinds: frameKinds.map(groupVersionKindOf),
    // A cluster without the kinds of one service still has the others.
    pieces: services.map((one) => ({ name: one.name, kinds: kindsOf(one) })),
    optional: true,
    clash: {
      kind: { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' },
      problem: nodeSetInstalled,
    },
    // Ours in place of those of 2023, which have no room for what was done to a host; what services wait for is
    // upstream's where it is.
    crds: { own: servedKinds(services).map(crdOf), upstream: standIns(services).map(crdOf) },
    rules: [...servedKinds(services).flatMap(write), ...standIns(services).map(read), ...commonRules],
    mayUse: surroundings,
    webhooks: dataPlaneWebhooks(services),
    start: (context) => startDataPlane(services, context),
  }
}

/** Whatever services there are. */
const commonRules: readonly Rule[] = [
  {
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: ['metal3.io'], resources: ['baremetalhosts'], verbs: ['get', 'list', 'watch', 'update'] },
  // Addresses and names of nodes, where they are managed.
  {
    apiGroups: [networkGroup.group],
    resources: ['ipsets', 'dnsdata'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: [networkGroup.group],
    resources: ['netconfigs', 'dnsmasqs'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['batch'],
    resources: ['jobs'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] },
]

export const dataPlanePart = dataPlanePartOf(nodeServices)

function startDataPlane(
  services: readonly ServiceDefinition[],
  { has = () => false, runtime, record, env, transport, runs, runTimeLimitMs }: PartContext,
): Readonly<Record<string, AdmissionHandler>> {
  const { client } = runtime
  const controlPlane = novaControlPlane({ client, transport })
  const isServed = (one: ServiceDefinition): boolean => kindsOf(one).every(has)
  const world = createWorld({
    runtime,
    services: services.filter(isServed),
    unserved: services.filter((one) => !isServed(one)),
    controlPlane,
    env,
    record,
    ...(has(bareMetalHosts) && { machines: bareMetalHosts }),
    addresses: has(netConfigs) && has(ipSets),
    names: has(dnsMasqs) && has(dnsDatas),
  })
  for (const controller of dataPlaneControllers(world)) runtime.add(controller)
  startRuns({
    runtime,
    record,
    env,
    way: runs,
    ...(runTimeLimitMs !== undefined && { timeLimitMs: runTimeLimitMs }),
  })
  return dataPlaneHandlers(viewOf(world), services, FINALIZER)
}

function viewOf(world: World): DataPlaneView {
  return {
    env: world.env,
    known: (namespace) => ({
      role: (name) => world.roles.get(keyOf({ namespace, name })),
      node: (name) => world.nodes.get(keyOf({ namespace, name })),
      nodesOf: (role) => world.nodes.by(byRole, keyOf({ namespace, name: role })),
      service: (annotation, name) => {
        const definition = world.services.find((one) => one.annotation === annotation)
        return definition && world.objectsOf(definition).get(keyOf({ namespace, name }))
      },
    }),
    now: (namespace, signal) => partsNow(world, namespace, signal),
  }
}

/** Listed anew: seldom asked, and only before something is refused. */
async function partsNow(world: World, namespace: string, signal: AbortSignal): Promise<DataPlaneParts> {
  const list = async <T>(kind: ServiceAnnotation['kind']): Promise<readonly T[]> =>
    (await world.client.list(kind, { namespace, signal })).items as unknown as readonly T[]
  const roles = await list<DataPlaneRole>(dataPlaneRoles)
  const nodes = await list<DataPlaneNode>(dataPlaneNodes)
  const services = new Map<string, readonly ServiceObject[]>()
  for (const { annotation } of world.services) services.set(annotation.key, await list(annotation.kind))
  const named = <T extends { readonly metadata: { readonly name: string } }>(
    all: readonly T[],
    name: string,
  ): T | undefined => all.find(({ metadata }) => metadata.name === name)
  return {
    role: (name) => named(roles, name),
    node: (name) => named(nodes, name),
    nodesOf: (role) => nodes.filter(({ spec }) => spec.role === role),
    service: ({ key }, name) => named(services.get(key) ?? [], name),
  }
}
