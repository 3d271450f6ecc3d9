/** The part that brings OpenStack services to nodes outside the cluster: roles, nodes, service objects, runs. */
import { ansibleRunKind, ansibleRuns } from '../../../api/ansibleee.ts'
import { crdOf, type KindDefinition } from '../../../api/crd.ts'
import { dataPlaneKind, dataPlanes } from '../../../api/dataplane.ts'
import { type DataPlaneNode, dataPlaneNodeKind, dataPlaneNodes } from '../../../api/dataplane-node.ts'
import { type DataPlaneRole, dataPlaneRoleKind, dataPlaneRoles } from '../../../api/dataplane-role.ts'
import { dataPlaneServiceKind, dataPlaneServices } from '../../../api/dataplane-service.ts'
import { networkGroup } from '../../../api/netconfig.ts'
import { novaCellKind, novaCells } from '../../../api/nova-cell.ts'
import { novaExternalComputeKind, novaExternalComputes } from '../../../api/nova-external-compute.ts'
import { keyOf } from '../../../api/object.ts'
import { ovnMetadataAgentKind, ovnMetadataAgents } from '../../../api/ovn-metadata-agent.ts'
import type { ServiceAnnotation } from '../../../api/service-annotation.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { bareMetalHosts } from '../../../controllers/dataplane/bare-metal.ts'
import {
  dataPlaneControllers,
  dataPlaneServiceDefinitions,
} from '../../../controllers/dataplane/controllers.ts'
import { novaControlPlane } from '../../../controllers/dataplane/nova-control-plane.ts'
import { startRuns } from '../../../controllers/dataplane/runs/start.ts'
import { byRole, createWorld, FINALIZER, type World } from '../../../controllers/dataplane/world.ts'
import { dnsDatas, dnsMasqs } from '../../../controllers/dns/kinds.ts'
import { ipSets, netConfigs } from '../../../controllers/ipam/reservation.ts'
import { nodeSetInstalled } from '../../../errors/dataplane.ts'
import type { AdmissionHandler } from '../../../kube/admission.ts'
import type { DataPlaneParts, DataPlaneView } from '../../../webhooks/data-plane-view.ts'
import { dataPlaneHandlers, dataPlaneWebhooks } from '../../../webhooks/data-plane-webhooks.ts'
import type { OperatorPart, PartContext, Rule } from './part.ts'

const served: readonly KindDefinition[] = [
  dataPlaneKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneServiceKind,
  novaExternalComputeKind,
  ovnMetadataAgentKind,
  ansibleRunKind,
]

export const dataPlanePart: OperatorPart = {
  name: 'dataplane',
  kinds: [
    dataPlanes,
    dataPlaneRoles,
    dataPlaneNodes,
    dataPlaneServices,
    novaExternalComputes,
    ovnMetadataAgents,
    ansibleRuns,
    novaCells,
  ],
  optional: true,
  clash: {
    kind: { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' },
    problem: nodeSetInstalled,
  },
  // Ours in place of those of 2023, which have no room for what was done to a host; NovaCell is upstream's where it is.
  crds: { own: served.map(crdOf), upstream: [crdOf(novaCellKind)] },
  rules: [
    ...served.map(
      ({ group, plural }): Rule => ({
        apiGroups: [group],
        resources: [plural],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      }),
    ),
    ...served.map(
      ({ group, plural }): Rule => ({
        apiGroups: [group],
        resources: [`${plural}/status`, `${plural}/finalizers`],
        verbs: ['update'],
      }),
    ),
    { apiGroups: [novaCellKind.group], resources: [novaCellKind.plural], verbs: ['get', 'list', 'watch'] },
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
  ],
  mayUse: [bareMetalHosts, netConfigs, ipSets, dnsMasqs, dnsDatas],
  webhooks: dataPlaneWebhooks,
  start: startDataPlane,
}

function startDataPlane({
  has = () => false,
  runtime,
  record,
  env,
  transport,
  runs,
  runTimeLimitMs,
}: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const { client } = runtime
  const controlPlane = novaControlPlane({ client, transport })
  const world = createWorld({
    runtime,
    services: dataPlaneServiceDefinitions,
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
  return dataPlaneHandlers(viewOf(world), dataPlaneServiceDefinitions, FINALIZER)
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
