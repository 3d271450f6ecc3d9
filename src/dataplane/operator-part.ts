/**
 * Defines the data plane part of the operator: its kinds, permissions, webhooks and controllers.
 *
 * The only file of `dataplane/` that `operator/` calls.
 */
import path from 'node:path'
import { type KindDefinition, renderCrd } from '../api/crd.ts'
import { ipSets } from '../api/ipset.ts'
import { netConfigs, networkGroup } from '../api/netconfig.ts'
import { type GroupVersionKind, objectKey } from '../api/object.ts'
import { dnsDatas, dnsMasqs } from '../controllers/dns/dns-kinds.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import type { OperatorPart, PartContext, PolicyRule } from '../operator/parts/part.ts'
import { byRole, type DataPlaneCaches } from './caches.ts'
import { createDataPlane } from './controllers.ts'
import { defaultRunSettings } from './execution/decide-attempt.ts'
import { jobExecutor, jobWatch } from './execution/jobs/job-executor.ts'
import { localExecutor } from './execution/local/local-executor.ts'
import { runController, runIndexes } from './execution/run-controller.ts'
import { safeRunPolicy } from './execution/run-policy.ts'
import { nodeSetInstalled } from './findings/data-plane.ts'
import { type AnsibleRun, ansibleRunKind, ansibleRuns } from './kinds/ansible-run.ts'
import {
  type DataPlaneNode,
  type DataPlaneRole,
  dataPlaneKind,
  dataPlaneNodeKind,
  dataPlaneNodes,
  dataPlaneRoleKind,
  dataPlaneRoles,
  dataPlaneServiceKind,
} from './kinds/data-plane.ts'
import type { ServiceObject } from './kinds/service-object.ts'
import { bareMetalHosts } from './machines/bare-metal.ts'
import type { ServiceAnnotation } from './rules/service-annotation.ts'
import {
  coreKinds,
  fallbackKinds,
  groupVersionKind,
  nodeServices,
  requiredKinds,
  servedKinds,
} from './service-definitions/all.ts'
import type { ServiceDefinition } from './service-definitions/definition.ts'
import type { Environment } from './service-definitions/images.ts'
import { createNovaControlPlane } from './services/nova-control-plane.ts'
import { dataPlaneHandlers, dataPlaneWebhooks } from './webhooks/data-plane-webhooks.ts'
import type { DataPlaneLookup, DataPlaneObjects } from './webhooks/role-and-node.ts'
import { FINALIZER } from './writes.ts'

/** Kinds of other operators that nodes use where they are served. */
const optionalKinds: readonly GroupVersionKind[] = [bareMetalHosts, netConfigs, ipSets, dnsMasqs, dnsDatas]

const READ = ['get', 'list', 'watch']

function kindRule({ group, plural }: KindDefinition, verbs: readonly string[], reason: string): PolicyRule {
  return { apiGroups: [group], resources: [plural], verbs, reason }
}

/** For a kind whose objects a controller reconciles. */
function statusRules({ group, plural }: KindDefinition): readonly PolicyRule[] {
  return [
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['update'], reason: 'report conditions' },
    {
      apiGroups: [group],
      resources: [`${plural}/finalizers`],
      verbs: ['update'],
      reason: 'own objects that block the deletion of their owner, on OpenShift',
    },
  ]
}

const coreRules: readonly PolicyRule[] = [
  kindRule(dataPlaneKind, READ, 'read data planes'),
  kindRule(dataPlaneServiceKind, READ, 'read the steps of phase 0'),
  ...[dataPlaneRoleKind, dataPlaneNodeKind].map((kind) =>
    kindRule(kind, [...READ, 'create', 'patch', 'update'], 'create the roles and nodes of a data plane, set labels'),
  ),
  kindRule(ansibleRunKind, [...READ, 'create', 'update', 'delete'], 'request Ansible runs, and delete old ones'),
  {
    ...kindRule(
      ansibleRunKind,
      ['list'],
      'start no run on a host of another run, also of a namespace that is not served',
    ),
    scope: 'cluster',
  },
  ...[dataPlaneKind, dataPlaneRoleKind, dataPlaneNodeKind, ansibleRunKind].flatMap(statusRules),
]

function serviceRules({ crd }: ServiceDefinition): readonly PolicyRule[] {
  const verbs = [...READ, 'create', 'patch', 'update', 'delete']
  return [kindRule(crd, verbs, 'bring the service to nodes and remove it'), ...statusRules(crd)]
}

export function createDataPlanePart(services: readonly ServiceDefinition[]): OperatorPart {
  return {
    name: 'dataplane',
    kinds: coreKinds.map(groupVersionKind),
    // A cluster without the kinds of one service can still use the others.
    pieces: services.map((service) => ({ name: service.name, kinds: requiredKinds(service) })),
    optional: true,
    conflict: {
      kind: { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' },
      problem: nodeSetInstalled,
    },
    // Upstream's CRDs of these kinds have no field for what is deployed on a host, so ours replace them. Kinds that
    // services wait for are upstream's, where they are installed.
    crds: { own: servedKinds(services).map(renderCrd), upstream: fallbackKinds(services).map(renderCrd) },
    rules: [
      ...coreRules,
      ...services.flatMap(serviceRules),
      ...fallbackKinds(services).map((kind) => kindRule(kind, READ, 'wait for the control plane of a service')),
      ...commonRules,
    ],
    optionalKinds,
    webhooks: dataPlaneWebhooks(services),
    start: (context) => startDataPlane(services, context),
  }
}

/** Independent of the services. */
const commonRules: readonly PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['secrets'],
    verbs: [...READ, 'create', 'update', 'delete'],
    scope: 'machines',
    reason: 'read SSH keys and passwords that roles and services name; write inventories, configurations, first boots',
  },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: READ,
    reason: 'notice changes of what Ansible runs mount',
  },
  {
    apiGroups: ['metal3.io'],
    resources: ['baremetalhosts'],
    verbs: ['list', 'watch', 'update'],
    scope: 'machines',
    reason: 'claim and release machines',
  },
  networkRule(['ipsets', 'dnsdata'], [...READ, 'create', 'patch', 'delete'], 'request addresses and names of nodes'),
  networkRule(['netconfigs', 'dnsmasqs'], READ, 'find out where addresses and names are managed'),
  {
    apiGroups: ['batch'],
    resources: ['jobs'],
    verbs: [...READ, 'create', 'patch', 'delete'],
    reason: 'run Ansible',
  },
  {
    apiGroups: ['keystone.openstack.org'],
    resources: ['keystoneapis'],
    verbs: ['list'],
    reason: 'find the only Keystone to which a password is sent',
  },
  {
    apiGroups: [''],
    resources: ['pods'],
    verbs: ['get', 'list'],
    reason: 'find the conductor of a cell, and why the pod of a run does not start',
  },
  {
    apiGroups: [''],
    resources: ['pods/exec'],
    verbs: ['create', 'get'],
    reason: 'run `nova-manage cell_v2 discover_hosts` in the conductor of a cell',
  },
]

function networkRule(resources: readonly string[], verbs: readonly string[], reason: string): PolicyRule {
  return { apiGroups: [networkGroup.group], resources, verbs, reason }
}

export const dataPlanePart = createDataPlanePart(nodeServices)

function startDataPlane(
  allServices: readonly ServiceDefinition[],
  context: PartContext,
): Readonly<Record<string, AdmissionHandler>> {
  const { has = () => false, runtime, record, env, transport } = context
  const { client, guard } = runtime
  const isServed = (definition: ServiceDefinition): boolean => requiredKinds(definition).every(has)
  const services = allServices.filter(isServed)
  const { controllers, caches } = createDataPlane({
    runtime,
    services,
    unserved: allServices.filter((definition) => !isServed(definition)),
    controlPlane: createNovaControlPlane({ client, transport, guard }),
    env,
    record,
    ...(has(bareMetalHosts) && { machines: bareMetalHosts }),
    machineNamespaces: context.machineNamespaces ?? [],
    addresses: has(netConfigs) && has(ipSets),
    names: has(dnsMasqs) && has(dnsDatas),
  })
  for (const controller of controllers) runtime.add(controller)
  startRunController(context, caches.nodes)
  return dataPlaneHandlers(createLookup({ client, caches, services, env }), allServices, FINALIZER)
}

/** Runs Ansible as Jobs of the cluster, or as processes of this machine. */
function startRunController(context: PartContext, nodes: DataPlaneCaches['nodes']): void {
  const { runtime, record, env, runs: executorKind, runTimeLimitMs, runPolicy: policy = safeRunPolicy } = context
  const { client } = runtime
  const timeLimitMs = runTimeLimitMs ?? defaultRunSettings.timeLimitMs
  // A local run needs leadership, so no other operator starts it; Jobs may be created by several operators.
  const startGraceMs = executorKind === 'jobs' ? 60_000 : 0
  const settings = { ...defaultRunSettings, timeLimitMs, startGraceMs }
  const isJobs = executorKind === 'jobs'
  let enqueue = (_key: string): void => {}
  const executor = isJobs
    ? jobExecutor({ client, timeLimitMs })
    : localExecutor({ folder: runsFolder(env), timeLimitMs, guard: runtime.guard, onEnded: (key) => enqueue(key) })
  const runs = runtime.cache<AnsibleRun>({ kind: ansibleRuns }, runIndexes)
  const watches = isJobs ? [jobWatch] : []
  enqueue = runtime.add(runController({ client, runs, nodes, executor, settings, policy, record, watches })).enqueue
}

function runsFolder(env: Environment): string {
  const state = env['XDG_STATE_HOME'] || path.join(env['HOME'] ?? '/', '.local', 'state')
  return path.join(state, 'stackloom', 'runs')
}

interface LookupDeps {
  readonly client: PartContext['runtime']['client']
  readonly caches: DataPlaneCaches
  readonly services: readonly ServiceDefinition[]
  readonly env: Environment
}

function createLookup({ client, caches, services, env }: LookupDeps): DataPlaneLookup {
  const read = [caches.roles, caches.nodes, ...services.map((definition) => caches.serviceObjects(definition))]
  const cached = (namespace: string): DataPlaneObjects => ({
    role: (name) => caches.roles.get(objectKey({ namespace, name })),
    node: (name) => caches.nodes.get(objectKey({ namespace, name })),
    nodesInRole: (role) => caches.nodes.byIndex(byRole, objectKey({ namespace, name: role })),
    service: (annotation, name) => {
      const definition = services.find((service) => service.annotation === annotation)
      return definition && caches.serviceObjects(definition).get(objectKey({ namespace, name }))
    },
  })
  return {
    env,
    cached: (namespace) => (read.every((cache) => cache.hasSynced()) ? cached(namespace) : undefined),
    live: (namespace, signal) => listObjects({ client, services }, namespace, signal),
  }
}

/** Lists from the API server: seldom, and only before a request is refused. */
async function listObjects(
  { client, services }: Pick<LookupDeps, 'client' | 'services'>,
  namespace: string,
  signal: AbortSignal,
): Promise<DataPlaneObjects> {
  const list = async <T>(kind: ServiceAnnotation['kind']): Promise<readonly T[]> =>
    (await client.list(kind, { namespace, signal })).items as unknown as readonly T[]
  const roles = await list<DataPlaneRole>(dataPlaneRoles)
  const nodes = await list<DataPlaneNode>(dataPlaneNodes)
  const serviceObjects = new Map<string, readonly ServiceObject[]>()
  for (const { annotation } of services) serviceObjects.set(annotation.key, await list(annotation.kind))
  const findByName = <T extends { readonly metadata: { readonly name: string } }>(
    objects: readonly T[],
    name: string,
  ): T | undefined => objects.find(({ metadata }) => metadata.name === name)
  return {
    role: (name) => findByName(roles, name),
    node: (name) => findByName(nodes, name),
    nodesInRole: (role) => nodes.filter(({ spec }) => spec.role === role),
    service: ({ key }, name) => findByName(serviceObjects.get(key) ?? [], name),
  }
}
