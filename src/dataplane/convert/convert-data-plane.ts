/**
 * Converts roles and nodes to the NodeSet API: NodeSets, their Services, and a Deployment.
 *
 * Pure. A NodeSet has one cell and one configuration for all its nodes, so nodes of a role that differ in either get
 * separate NodeSets. What cannot be converted is a finding.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { writeYaml } from '../../yaml/write.ts'
import { notConverted } from '../findings/runs.ts'
import type { DataPlaneNode, DataPlaneRole, DataPlaneService } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { nodeServices } from '../service-definitions/all.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import {
  BUILT_IN,
  boundValue,
  checkNode,
  checkOrphans,
  checkRole,
  DATA_PLANE,
  type NodeGroup,
  type RequestedService,
  renderNodeSet,
  requestedServices,
  serviceObjects,
} from './convert-node-set.ts'

/** The objects of one namespace. */
export interface RoleNodeDataPlane {
  readonly roles: readonly DataPlaneRole[]
  readonly nodes: readonly DataPlaneNode[]
  readonly services: readonly DataPlaneService[]
  /** Of all service kinds. */
  readonly serviceObjects: readonly ServiceObject[]
}

export interface ConvertedDataPlane {
  readonly objects: readonly KubeObject[]
  readonly findings: readonly Finding[]
}

export function convertDataPlane(
  from: RoleNodeDataPlane,
  services: readonly ServiceDefinition[] = nodeServices,
): ConvertedDataPlane {
  const groups = from.roles.flatMap((role) => groupNodes(role, from, services))
  const isConverted = ({ kind, metadata }: ServiceObject): boolean =>
    groups.some(
      (group) =>
        group.nodes.some((node) => node.metadata.name === metadata.name) &&
        group.services.some(({ definition }) => definition.annotation.kind.kind === kind),
    )
  const roleless = from.nodes.filter(({ spec }) => !from.roles.some(({ metadata }) => metadata.name === spec.role))
  const findings = [
    ...roleless.map(({ metadata, spec }) =>
      finding(notConverted, {
        what: `OpenStackDataPlaneNode ${metadata.name}`,
        why: spec.role ? `its role ${spec.role} does not exist` : 'it has no role, and a NodeSet is created from one',
      }),
    ),
    ...from.roles.flatMap(checkRole),
    ...from.nodes.flatMap((node) => checkNode(node, from.roles)),
    ...checkOrphans(from.serviceObjects, services, isConverted),
  ]
  const customServices = from.services.filter(({ metadata }) => !BUILT_IN.has(metadata.name)).map(convertService)
  const objects = [
    ...customServices,
    ...groups.flatMap((group) => [
      ...group.services.flatMap((requested) => serviceObjects(group, requested)),
      renderNodeSet(group),
    ]),
  ]
  const sets = objects.filter(({ kind }) => kind === 'OpenStackDataPlaneNodeSet')
  return { objects: sets.length > 0 ? [...objects, deployment(sets, objects)] : objects, findings }
}

function groupNodes(
  role: DataPlaneRole,
  from: RoleNodeDataPlane,
  services: readonly ServiceDefinition[],
): readonly NodeGroup[] {
  const groups = new Map<string, Omit<NodeGroup, 'name'> & { nodes: DataPlaneNode[] }>()
  for (const node of from.nodes.filter(({ spec }) => spec.role === role.metadata.name)) {
    const requested = requestedServices(services, from.serviceObjects, node, role)
    const key = JSON.stringify(requested.map(serviceTraits))
    const known = groups.get(key)
    if (known) known.nodes.push(node)
    else groups.set(key, { services: requested, namespace: role.metadata.namespace, role, nodes: [node] })
  }
  const all = [...groups.values()]
  return all.map((group) => ({ ...group, name: nodeSetName(group, all) }))
}

/** Nodes with equal traits of all services share a NodeSet. */
function serviceTraits({ definition, fields, config }: RequestedService): readonly unknown[] {
  return [definition.name, fields, config]
}

/** The name of the role for a single NodeSet; else with the cell, and with a hash where that is not unique. */
function nodeSetName(group: Omit<NodeGroup, 'name'>, all: readonly Omit<NodeGroup, 'name'>[]): string {
  if (all.length === 1) return group.role.metadata.name
  const named = ({ role, services }: Omit<NodeGroup, 'name'>): string => {
    const bounds = services.flatMap((service) => boundValue(service) ?? [])
    return [role.metadata.name, ...(bounds.length > 0 ? bounds : ['no-cell'])].join('-')
  }
  const name = named(group)
  if (all.filter((omit) => named(omit) === name).length === 1) return name
  return `${name}-${hashValue(group.services.map(serviceTraits)).slice(0, 6)}`
}

function convertService({ metadata, spec }: DataPlaneService): KubeObject {
  const { play, role, openStackAnsibleEERunnerImage: image } = spec
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneService',
    metadata: { name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) },
    spec: {
      ...(play ? { playbookContents: play } : role ? { playbookContents: writeYaml([role]) } : {}),
      ...(image && { openStackAnsibleEERunnerImage: image }),
    },
  }
}

/** A Deployment runs once, so its name has the hash of what it deploys. */
function deployment(sets: readonly KubeObject[], objects: readonly KubeObject[]): KubeObject {
  const namespace = sets[0]?.metadata.namespace
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name: `edpm-${hashValue(objects).slice(0, 10)}`, ...(namespace && { namespace }) },
    spec: { nodeSets: sets.map(({ metadata }) => metadata.name) },
  }
}

function hashValue(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
