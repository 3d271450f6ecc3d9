/** The part that brings OpenStack services to nodes outside the cluster: roles, nodes, service objects, runs. */

import { type KindDefinition, renderCrd } from '../api/crd.ts'
import { ipSets } from '../api/ipset.ts'
import { netConfigs, networkGroup } from '../api/netconfig.ts'
import { type GroupVersionKind, objectKey } from '../api/object.ts'
import { dnsDatas, dnsMasqs } from '../controllers/dns/dns-kinds.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import type { OperatorPart, PartContext, PolicyRule } from '../operator/parts/part.ts'
import { dataPlaneControllers } from './controllers.ts'
import { startRunController } from './execution/start.ts'
import { nodeSetInstalled } from './findings/data-plane.ts'
import { type DataPlaneNode, dataPlaneNodes } from './kinds/node.ts'
import { type DataPlaneRole, dataPlaneRoles } from './kinds/role.ts'
import type { ServiceObject } from './kinds/service-object.ts'
import { bareMetalHosts } from './machines/bare-metal.ts'
import type { ServiceAnnotation } from './rules/service-annotation.ts'
import { nodeServices } from './service-definitions/all.ts'
import type { ServiceDefinition } from './service-definitions/definition.ts'
import {
  coreKinds,
  fallbackKinds,
  groupVersionKind,
  requiredKinds,
  servedKinds,
} from './service-definitions/served-kinds.ts'
import { createNovaControlPlane } from './services/nova-control-plane.ts'
import { dataPlaneHandlers, dataPlaneWebhooks } from './webhooks/data-plane-webhooks.ts'
import type { DataPlaneLookup, DataPlaneObjects } from './webhooks/lookup.ts'
import { byRole, createWorld, FINALIZER, type World } from './world.ts'

/** Kinds of others that nodes use where they are served. */
const optionalKinds: readonly GroupVersionKind[] = [bareMetalHosts, netConfigs, ipSets, dnsMasqs, dnsDatas]

const writeRules = ({ group, plural }: KindDefinition): readonly PolicyRule[] => [
  {
    apiGroups: [group],
    resources: [plural],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: [group], resources: [`${plural}/status`, `${plural}/finalizers`], verbs: ['update'] },
]
const readRule = ({ group, plural }: KindDefinition): PolicyRule => ({
  apiGroups: [group],
  resources: [plural],
  verbs: ['get', 'list', 'watch'],
})

export function createDataPlanePart(services: readonly ServiceDefinition[]): OperatorPart {
  return {
    name: 'dataplane',
    kinds: coreKinds.map(groupVersionKind),
    // A cluster without the kinds of one service still has the others.
    pieces: services.map((service) => ({ name: service.name, kinds: requiredKinds(service) })),
    optional: true,
    conflict: {
      kind: { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' },
      problem: nodeSetInstalled,
    },
    // Ours in place of those of 2023, which have no room for what was done to a host; what services wait for is
    // upstream's where it is.
    crds: { own: servedKinds(services).map(renderCrd), upstream: fallbackKinds(services).map(renderCrd) },
    rules: [...servedKinds(services).flatMap(writeRules), ...fallbackKinds(services).map(readRule), ...commonRules],
    optionalKinds: optionalKinds,
    webhooks: dataPlaneWebhooks(services),
    start: (context) => startDataPlane(services, context),
  }
}

/** Whatever services there are. */
const commonRules: readonly PolicyRule[] = [
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

export const dataPlanePart = createDataPlanePart(nodeServices)

function startDataPlane(
  services: readonly ServiceDefinition[],
  { has = () => false, runtime, record, env, transport, runs, runTimeLimitMs }: PartContext,
): Readonly<Record<string, AdmissionHandler>> {
  const { client } = runtime
  const controlPlane = createNovaControlPlane({ client, transport })
  const isServed = (serviceDefinition: ServiceDefinition): boolean => requiredKinds(serviceDefinition).every(has)
  const world = createWorld({
    runtime,
    services: services.filter(isServed),
    unserved: services.filter((service) => !isServed(service)),
    controlPlane,
    env,
    record,
    ...(has(bareMetalHosts) && { machines: bareMetalHosts }),
    addresses: has(netConfigs) && has(ipSets),
    names: has(dnsMasqs) && has(dnsDatas),
  })
  for (const controller of dataPlaneControllers(world)) runtime.add(controller)
  startRunController({
    runtime,
    record,
    env,
    executor: runs,
    ...(runTimeLimitMs !== undefined && { timeLimitMs: runTimeLimitMs }),
  })
  return dataPlaneHandlers(createLookup(world), services, FINALIZER)
}

function createLookup(world: World): DataPlaneLookup {
  return {
    env: world.env,
    cached: (namespace) => ({
      role: (name) => world.roles.get(objectKey({ namespace, name })),
      node: (name) => world.nodes.get(objectKey({ namespace, name })),
      nodesInRole: (role) => world.nodes.byIndex(byRole, objectKey({ namespace, name: role })),
      service: (annotation, name) => {
        const definition = world.services.find((service) => service.annotation === annotation)
        return definition && world.objectsOf(definition).get(objectKey({ namespace, name }))
      },
    }),
    live: (namespace, signal) => listObjects(world, namespace, signal),
  }
}

/** Listed anew: seldom asked, and only before something is refused. */
async function listObjects(world: World, namespace: string, signal: AbortSignal): Promise<DataPlaneObjects> {
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
    nodesInRole: (role) => nodes.filter(({ spec }) => spec.role === role),
    service: ({ key }, name) => named(services.get(key) ?? [], name),
  }
}
