/**
 * A NodeSet of today from a role and some of its nodes of 2023, and what of either it has no place for.
 *
 * Pure. Which nodes come together is decided before.
 */

import { SSH_SECRET } from '../../api/node-secrets.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { notConverted } from '../findings/runs.ts'
import type { NodeSection } from '../kinds/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import { parseAnsibleVars } from '../rules/inheritance.ts'
import { nodeSetEntries, type RequestedService } from './convert-node-services.ts'

export const DATA_PLANE = 'dataplane.openstack.org/v1beta1'

/** Services that today's operator brings along under the same names. */
export const BUILT_IN = new Set(['configure-network', 'validate-network', 'install-os', 'configure-os', 'run-os'])

/** Nodes that can share a NodeSet. */
export interface NodeGroup {
  readonly name: string
  readonly namespace: string | undefined
  readonly role: DataPlaneRole
  readonly nodes: readonly DataPlaneNode[]
  readonly services: readonly RequestedService[]
}

export function renderNodeSet(group: NodeGroup): KubeObject {
  const { role, nodes, name, namespace } = group
  const { spec } = role
  const template = spec.nodeTemplate ?? {}
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneNodeSet',
    metadata: { name, ...(namespace && { namespace }) },
    spec: {
      preProvisioned: spec.preProvisioned ?? false,
      ...(spec.preProvisioned ? {} : renderBaremetal(role)),
      ...(spec.env && { env: spec.env }),
      ...(spec.networkAttachments && { networkAttachments: spec.networkAttachments }),
      services: serviceList(group),
      nodeTemplate: {
        ansibleSSHPrivateKeySecret: template.ansibleSSHPrivateKeySecret ?? findSshSecret(nodes) ?? SSH_SECRET,
        managementNetwork: template.managementNetwork ?? 'ctlplane',
        ...(template.extraMounts && { extraMounts: template.extraMounts }),
        ...renderCommon(template),
        ansible: convertAnsible(template),
      },
      nodes: Object.fromEntries(nodes.map((node) => [node.metadata.name, convertNode(node)])),
    },
  }
}

function findSshSecret(nodes: readonly DataPlaneNode[]): string | undefined {
  return nodes.find(({ spec }) => spec.node?.ansibleSSHPrivateKeySecret)?.spec.node?.ansibleSSHPrivateKeySecret
}

function convertNode({ spec, metadata }: DataPlaneNode): Readonly<Record<string, unknown>> {
  const section = spec.node ?? {}
  return {
    hostName: spec.hostName ?? metadata.name,
    ...(section.managementNetwork && { managementNetwork: section.managementNetwork }),
    ...renderCommon(section),
    ansible: { ...(spec.ansibleHost && { ansibleHost: spec.ansibleHost }), ...convertAnsible(section) },
  }
}

function renderCommon({ networks, userData, networkData }: NodeSection): Readonly<Record<string, unknown>> {
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

function convertAnsible(section: NodeSection): Readonly<Record<string, unknown>> {
  const { ansibleUser, ansiblePort, ansibleVars, networkConfig } = section
  const vars = {
    ...parseAnsibleVars(ansibleVars),
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
function serviceList({ role, name, services }: NodeGroup): readonly string[] {
  const phase0 = role.spec.services ?? [...BUILT_IN]
  return ['bootstrap', ...phase0, 'install-certs', 'ovn', ...services.flatMap((wanted) => nodeSetEntries(name, wanted))]
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

function renderBaremetal({ spec }: DataPlaneRole): Readonly<Record<string, unknown>> {
  const template = spec.baremetalSetTemplate
  if (!template) return {}
  const kept = BAREMETAL.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]]]))
  return { baremetalSetTemplate: { cloudUserName: 'cloud-admin', ...Object.fromEntries(kept) } }
}

export function checkRole({ metadata, spec }: DataPlaneRole): readonly Finding[] {
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
export function checkNode({ metadata, spec }: DataPlaneNode, roles: readonly DataPlaneRole[]): readonly Finding[] {
  const role = roles.find((role) => role.metadata.name === spec.role)
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
