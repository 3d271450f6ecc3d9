/**
 * Roles and nodes of 2023 as today's API has them: NodeSets, their Services, a Deployment.
 *
 * Pure, one way. A NodeSet has one cell and one configuration for all its nodes, so nodes of a role that differ in
 * either come into NodeSets of their own. What today's API has no place for is a finding.
 */
import { createHash } from 'node:crypto'
import type { NodeSection } from '../api/dataplane.ts'
import { varsOf } from '../api/dataplane-inheritance.ts'
import type { DataPlaneNode } from '../api/dataplane-node.ts'
import type { DataPlaneRole } from '../api/dataplane-role.ts'
import type { DataPlaneService } from '../api/dataplane-service.ts'
import type { KubeObject } from '../api/object.ts'
import type { ServiceObject } from '../api/service-cr.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { notConverted } from '../errors/runs.ts'
import { nodeServices } from '../node-services/all.ts'
import type { ServiceDefinition } from '../node-services/definition.ts'
import { writeYaml } from '../yaml/write.ts'
import {
  boundTo,
  entriesOf,
  objectsFor,
  orphanFindings,
  type WantedService,
  wantedServices,
} from './convert-node-services.ts'
import { SSH_SECRET } from './data-plane.ts'

const DATA_PLANE = 'dataplane.openstack.org/v1beta1'

/** All of one namespace. */
export interface DataPlaneOf2023 {
  readonly roles: readonly DataPlaneRole[]
  readonly nodes: readonly DataPlaneNode[]
  readonly services: readonly DataPlaneService[]
  /** Of every kind. */
  readonly serviceObjects: readonly ServiceObject[]
}

export interface Converted {
  readonly objects: readonly KubeObject[]
  readonly findings: readonly Finding[]
}

/** Services that today's operator brings along under the same names. */
const BUILT_IN = new Set(['configure-network', 'validate-network', 'install-os', 'configure-os', 'run-os'])

export function convertDataPlane(
  from: DataPlaneOf2023,
  services: readonly ServiceDefinition[] = nodeServices,
): Converted {
  const groups = from.roles.flatMap((role) => groupsOf(role, from, services))
  const isTaken = ({ kind, metadata }: ServiceObject): boolean =>
    groups.some(
      (group) =>
        group.nodes.some((node) => node.metadata.name === metadata.name) &&
        group.services.some(({ definition }) => definition.annotation.kind.kind === kind),
    )
  const roleless = from.nodes.filter(
    ({ spec }) => !from.roles.some(({ metadata }) => metadata.name === spec.role),
  )
  const findings = [
    ...roleless.map(({ metadata, spec }) =>
      finding(notConverted, {
        what: `OpenStackDataPlaneNode ${metadata.name}`,
        why: spec.role
          ? `its role ${spec.role} is not there`
          : 'it has no role, and a NodeSet is made from one',
      }),
    ),
    ...from.roles.flatMap(roleFindings),
    ...from.nodes.flatMap((node) => nodeFindings(node, from.roles)),
    ...orphanFindings(from.serviceObjects, isTaken),
  ]
  const own = from.services.filter(({ metadata }) => !BUILT_IN.has(metadata.name)).map(convertService)
  const objects = [
    ...own,
    ...groups.flatMap((group) => [
      ...group.services.flatMap((wanted) => objectsFor(group, wanted)),
      nodeSet(group),
    ]),
  ]
  const sets = objects.filter(({ kind }) => kind === 'OpenStackDataPlaneNodeSet')
  return { objects: sets.length > 0 ? [...objects, deployment(sets, objects)] : objects, findings }
}

/** Nodes that can share a NodeSet. */
interface Group {
  readonly name: string
  readonly namespace: string | undefined
  readonly role: DataPlaneRole
  readonly nodes: readonly DataPlaneNode[]
  readonly services: readonly WantedService[]
}

function groupsOf(
  role: DataPlaneRole,
  from: DataPlaneOf2023,
  services: readonly ServiceDefinition[],
): readonly Group[] {
  const groups = new Map<string, Omit<Group, 'name'> & { nodes: DataPlaneNode[] }>()
  for (const node of from.nodes.filter(({ spec }) => spec.role === role.metadata.name)) {
    const wanted = wantedServices(services, from.serviceObjects, node, role)
    const key = JSON.stringify(wanted.map(traitsOf))
    const known = groups.get(key)
    if (known) known.nodes.push(node)
    else groups.set(key, { services: wanted, namespace: role.metadata.namespace, role, nodes: [node] })
  }
  const all = [...groups.values()]
  return all.map((group) => ({ ...group, name: nameOf(group, all) }))
}

/** What makes nodes differ that ask for the same service. */
function traitsOf({ definition, fields, config }: WantedService): readonly unknown[] {
  return [definition.name, fields, config]
}

/** The role's own name where one NodeSet is enough; else with the cell, and with a hash where that is not enough. */
function nameOf(group: Omit<Group, 'name'>, all: readonly Omit<Group, 'name'>[]): string {
  if (all.length === 1) return group.role.metadata.name
  const named = ({ role, services }: Omit<Group, 'name'>): string => {
    const bounds = services.flatMap((one) => boundTo(one) ?? [])
    return [role.metadata.name, ...(bounds.length > 0 ? bounds : ['no-cell'])].join('-')
  }
  const name = named(group)
  if (all.filter((one) => named(one) === name).length === 1) return name
  return `${name}-${hashOf(group.services.map(traitsOf)).slice(0, 6)}`
}

function nodeSet(group: Group): KubeObject {
  const { role, nodes, name } = group
  const { spec } = role
  const template = spec.nodeTemplate ?? {}
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneNodeSet',
    metadata: metadataOf(group, name),
    spec: {
      preProvisioned: spec.preProvisioned ?? false,
      ...(spec.preProvisioned ? {} : baremetal(role)),
      ...(spec.env && { env: spec.env }),
      ...(spec.networkAttachments && { networkAttachments: spec.networkAttachments }),
      services: serviceList(group),
      nodeTemplate: {
        ansibleSSHPrivateKeySecret: template.ansibleSSHPrivateKeySecret ?? sshSecretOf(nodes) ?? SSH_SECRET,
        managementNetwork: template.managementNetwork ?? 'ctlplane',
        ...(template.extraMounts && { extraMounts: template.extraMounts }),
        ...common(template),
        ansible: ansibleOf(template),
      },
      nodes: Object.fromEntries(nodes.map((node) => [node.metadata.name, nodeOf(node)])),
    },
  }
}

function sshSecretOf(nodes: readonly DataPlaneNode[]): string | undefined {
  return nodes.find(({ spec }) => spec.node?.ansibleSSHPrivateKeySecret)?.spec.node
    ?.ansibleSSHPrivateKeySecret
}

function nodeOf({ spec, metadata }: DataPlaneNode): Readonly<Record<string, unknown>> {
  const section = spec.node ?? {}
  return {
    hostName: spec.hostName ?? metadata.name,
    ...(section.managementNetwork && { managementNetwork: section.managementNetwork }),
    ...common(section),
    ansible: { ...(spec.ansibleHost && { ansibleHost: spec.ansibleHost }), ...ansibleOf(section) },
  }
}

function common({ networks, userData, networkData }: NodeSection): Readonly<Record<string, unknown>> {
  const today = (networks ?? []).map(({ network, name, subnetName = 'subnet1', ...rest }) => ({
    name: name ?? network ?? '',
    subnetName,
    ...rest,
  }))
  return {
    ...(today.length > 0 && { networks: today }),
    ...(userData && { userData }),
    ...(networkData && { networkData }),
  }
}

function ansibleOf(section: NodeSection): Readonly<Record<string, unknown>> {
  const { ansibleUser, ansiblePort, ansibleVars, networkConfig } = section
  const vars = {
    ...varsOf(ansibleVars),
    // Then a file beside the inventory, today a variable.
    ...(networkConfig?.template && { edpm_network_config_template: networkConfig.template }),
  }
  return {
    ...(ansibleUser && { ansibleUser }),
    ...(ansiblePort && { ansiblePort }),
    ...(Object.keys(vars).length > 0 && { ansibleVars: vars }),
  }
}

/** Today's order: what prepares a node, the role's own services in their places, then what connects it to the cloud. */
function serviceList({ role, name, services }: Group): readonly string[] {
  const phase0 = role.spec.services ?? [...BUILT_IN]
  return [
    'bootstrap',
    ...phase0,
    'install-certs',
    'ovn',
    ...services.flatMap((wanted) => entriesOf(name, wanted)),
  ]
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

/** The fields that both have. */
const BAREMETAL = [
  'automatedCleaningMode',
  'bmhLabelSelector',
  'bmhNamespace',
  'cloudUserName',
  'ctlplaneInterface',
  'deploymentSSHSecret',
  'domainName',
  'hardwareReqs',
  'osImage',
  'passwordSecret',
  'provisionServerName',
  'provisioningInterface',
] as const
/** Elsewhere today: the hosts are the nodes, the rest comes from NetConfig and from the nodes themselves. */
const MOVED = new Set(['baremetalHosts', 'userData', 'networkData'])

function baremetal({ spec }: DataPlaneRole): Readonly<Record<string, unknown>> {
  const template = spec.baremetalSetTemplate
  if (!template) return {}
  const kept = BAREMETAL.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]]]))
  return { baremetalSetTemplate: { cloudUserName: 'cloud-admin', ...Object.fromEntries(kept) } }
}

function roleFindings({ metadata, spec }: DataPlaneRole): readonly Finding[] {
  const known = new Set<string>([...BAREMETAL, ...MOVED])
  const lost = Object.keys(spec.baremetalSetTemplate ?? {}).filter((field) => !known.has(field))
  const what = `OpenStackDataPlaneRole ${metadata.name}`
  return [
    ...(lost.length > 0
      ? [
          finding(notConverted, {
            what,
            why: `baremetalSetTemplate has no ${lost.join(', ')} today; NetConfig says it`,
          }),
        ]
      : []),
    ...(spec.preProvisioned || spec.baremetalSetTemplate
      ? []
      : [finding(notConverted, { what, why: 'it is not preProvisioned and has no baremetalSetTemplate' })]),
  ]
}

/** What a node could have for itself then, and its NodeSet has for all of them today. */
function nodeFindings(
  { metadata, spec }: DataPlaneNode,
  roles: readonly DataPlaneRole[],
): readonly Finding[] {
  const role = roles.find((one) => one.metadata.name === spec.role)
  const secret = spec.node?.ansibleSSHPrivateKeySecret
  const shared = role?.spec.nodeTemplate?.ansibleSSHPrivateKeySecret
  const lost = [
    ...(spec.env?.length ? ['env'] : []),
    ...(spec.networkAttachments?.length ? ['networkAttachments'] : []),
    ...(spec.node?.extraMounts?.length ? ['node.extraMounts'] : []),
    ...(secret && shared && secret !== shared ? ['node.ansibleSSHPrivateKeySecret'] : []),
  ]
  if (lost.length === 0) return []
  const why = `${lost.join(', ')} of a single node has no place in a NodeSet; the role's holds`
  return [finding(notConverted, { what: `OpenStackDataPlaneNode ${metadata.name}`, why })]
}

/** A Deployment runs once: its name carries the hash of what it deploys. */
function deployment(sets: readonly KubeObject[], objects: readonly KubeObject[]): KubeObject {
  const namespace = sets[0]?.metadata.namespace
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name: `edpm-${hashOf(objects).slice(0, 10)}`, ...(namespace && { namespace }) },
    spec: { nodeSets: sets.map(({ metadata }) => metadata.name) },
  }
}

function metadataOf({ namespace }: Pick<Group, 'namespace'>, name: string): KubeObject['metadata'] {
  return { name, ...(namespace && { namespace }) }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
