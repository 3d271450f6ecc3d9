/**
 * Renders a NodeSet from a role and some of its nodes, with the Services and ConfigMaps that it needs, and reports what
 * cannot be converted.
 *
 * Pure. `convert-data-plane.ts` decides which nodes share a NodeSet.
 */

import { SSH_SECRET } from '../../api/node-secrets.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { notConverted } from '../findings/runs.ts'
import type { DataPlaneNode, DataPlaneRole, NodeSection } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { parseAnsibleVars } from '../rules/inheritance.ts'
import { readServiceRequest } from '../rules/service-annotation.ts'
import type { ConfigFacts, NodeSetService, ServiceDefinition } from '../service-definitions/definition.ts'

export const DATA_PLANE = 'dataplane.openstack.org/v1beta1'

/** Services that the NodeSet API has built in under the same names. */
export const BUILT_IN = new Set(['configure-network', 'validate-network', 'install-os', 'configure-os', 'run-os'])

/** Nodes of a role that share a NodeSet. */
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
  const converted = (networks ?? []).map(({ network, name, subnetName = 'subnet1', ...rest }) => ({
    name: name ?? network ?? '',
    subnetName,
    ...rest,
  }))
  return {
    ...(converted.length > 0 && { networks: converted }),
    ...(userData && { userData }),
    ...(networkData && { networkData }),
  }
}

function convertAnsible(section: NodeSection): Readonly<Record<string, unknown>> {
  const { ansibleUser, ansiblePort, ansibleVars, networkConfig } = section
  const vars = {
    ...parseAnsibleVars(ansibleVars),
    // A file in the Role/Node API, a variable in the NodeSet API.
    ...(networkConfig?.template && { edpm_network_config_template: networkConfig.template }),
  }
  return {
    ...(ansibleUser && { ansibleUser }),
    ...(ansiblePort && { ansiblePort }),
    ...(Object.keys(vars).length > 0 && { ansibleVars: vars }),
  }
}

/** The order of the NodeSet API: preparation, the services of the role, then the services that need the cloud. */
function serviceList({ role, name, services }: NodeGroup): readonly string[] {
  const phase0 = role.spec.services ?? [...BUILT_IN]
  return [
    'bootstrap',
    ...phase0,
    'install-certs',
    'ovn',
    ...services.flatMap((service) => nodeSetEntries(name, service)),
  ]
}

/** Fields that both APIs have. */
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
/** Fields that moved: the hosts are the nodes, the rest is in the NetConfig and the nodes. */
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
            why: `the NodeSet API has no baremetalSetTemplate.${lost.join(', ')}; set it in the NetConfig`,
          }),
        ]
      : []),
    ...(spec.preProvisioned || spec.baremetalSetTemplate
      ? []
      : [finding(notConverted, { what, why: 'it is not preProvisioned and has no baremetalSetTemplate' })]),
  ]
}

/** Reports settings of a single node that a NodeSet has only for all its nodes. */
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
  const why = `${lost.join(', ')} of a single node cannot be converted to a NodeSet; the role's value applies`
  return [finding(notConverted, { what: `OpenStackDataPlaneNode ${metadata.name}`, why })]
}

/** A service that a node requests. */
export interface RequestedService {
  readonly definition: ServiceDefinition
  readonly equivalent: NodeSetService
  /** From the annotation. */
  readonly fields: ConfigFacts
  /** customServiceConfig, or empty. */
  readonly config: string
}

/** The requests of a node and its role, in the order of a NodeSet's services. */
export function requestedServices(
  services: readonly ServiceDefinition[],
  objects: readonly ServiceObject[],
  node: DataPlaneNode,
  role: DataPlaneRole,
): readonly RequestedService[] {
  return services
    .flatMap((definition): readonly RequestedService[] => {
      const { annotation, nodeSetService: equivalent } = definition
      const request = readServiceRequest(annotation, node, role)
      if (request.kind !== 'requested' || !equivalent) return []
      const object = objects.find(
        ({ kind, metadata }) => kind === annotation.kind.kind && metadata.name === node.metadata.name,
      )
      return [{ definition, equivalent, fields: request.fields, config: object?.spec.customServiceConfig ?? '' }]
    })
    .toSorted((a, b) => a.equivalent.order - b.equivalent.order)
}

/** The value of the immutable field: the cell of a compute. */
export function boundValue({ definition, fields }: RequestedService): string | undefined {
  const { immutableField } = definition.annotation
  return immutableField === undefined ? undefined : fields[immutableField]
}

function nodeSetEntries(set: string, requested: RequestedService): readonly string[] {
  return [...(requested.equivalent.after ?? []), serviceName(set, requested)]
}

/** One service per bound value, such as a cell; nodes with a customServiceConfig get one per NodeSet. */
function serviceName(set: string, requested: RequestedService): string {
  const { type } = requested.equivalent
  if (requested.config !== '') return `${type}-of-${set}`
  const bound = boundValue(requested)
  return bound === undefined ? type : `${type}-of-${bound}`
}

/** The Service and ConfigMap that a NodeSet needs for one of its services. */
export function serviceObjects(
  { name: set, namespace }: { readonly name: string; readonly namespace: string | undefined },
  requested: RequestedService,
): readonly KubeObject[] {
  const { equivalent, fields, config } = requested
  const { type, playbook, secrets } = equivalent
  // Without a configuration the built-in service is enough, unless the service is bound to a cell.
  if (config === '' && boundValue(requested) === undefined) return []
  const metadata = (name: string): KubeObject['metadata'] => ({ name, ...(namespace && { namespace }) })
  const extra = `${set}-${type}-config`
  const service: KubeObject = {
    apiVersion: 'dataplane.openstack.org/v1beta1',
    kind: 'OpenStackDataPlaneService',
    metadata: metadata(serviceName(set, requested)),
    spec: {
      caCerts: 'combined-ca-bundle',
      edpmServiceType: type,
      playbook,
      dataSources: [
        ...secrets(fields).map((name) => ({ secretRef: { name } })),
        ...(config === '' ? [] : [{ configMapRef: { name: extra } }]),
      ],
    },
  }
  if (config === '') return [service]
  // Byte for byte, under a name that oslo.config reads after the generated file.
  const data = { [`25-${type}-custom.conf`]: config }
  return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(extra), data }, service]
}

/** Reports service objects that are not converted: no annotation requests them, or the NodeSet API has no such service. */
export function checkOrphans(
  objects: readonly ServiceObject[],
  services: readonly ServiceDefinition[],
  isConverted: (object: ServiceObject) => boolean,
): readonly Finding[] {
  return objects
    .filter((object) => !isConverted(object))
    .map(({ kind, metadata }) => {
      const definition = services.find(({ annotation }) => annotation.kind.kind === kind)
      const why =
        definition && !definition.nodeSetService
          ? 'the NodeSet API has no such service; deploy it in pods, or by a service with a playbook of your own'
          : 'no annotation of a node with its name requests it; annotate the node, and convert again'
      return finding(notConverted, { what: `${kind} ${metadata.name}`, why })
    })
}
