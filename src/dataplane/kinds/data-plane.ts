/**
 * Defines the kinds of dataplane.openstack.org/v1beta1: OpenStackDataPlane, Role, Node and Service.
 *
 * The fields are upstream's. Removed fields stay as deprecated: they are accepted, ignored, and answered with a warning
 * (`rules/role-and-node.ts`).
 */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import { conditionSchema } from '../../api/ipset.ts'
import { networkName } from '../../api/netconfig-kind.ts'
import type { Condition, SpecObject } from '../../api/object.ts'
import { envSchema, extraMountsSchema, networkAttachmentsSchema } from '../../api/pod.ts'
import { type AnsibleRole, ansibleRoleSchema } from './ansible-run.ts'
import { baremetalTemplateSchema, secretReferenceSchema } from './baremetal-template.ts'

const dataPlaneGroup = { group: 'dataplane.openstack.org', version: 'v1beta1' } as const
export const dataPlaneVersion = `${dataPlaneGroup.group}/${dataPlaneGroup.version}`

/** Characters of a YAML text. Parsing takes about a second per megabyte, in which no other object is reconciled. */
export const MAX_ANSIBLE_VARS = 128 * 1024

const ansibleOption = z.string().max(4096)

const deployStrategySchema = z.object({
  deploy: z.boolean().default(true),
  ansibleTags: ansibleOption.optional(),
  ansibleLimit: ansibleOption.optional(),
  ansibleSkipTags: ansibleOption.optional(),
})

const novaTemplateSchema = z
  .object({
    cellName: z.string().optional(),
    novaInstance: z.string().optional(),
    customServiceConfig: z.string().optional(),
    deploy: z.boolean().optional(),
  })
  .describe('Deprecated and ignored: annotate with nova.openstack.org/cell instead')

/** `nodeTemplate` of a role and `node` of a node: a node inherits the values that it does not set. */
const nodeSectionSchema = z.object({
  networkConfig: z.object({ template: z.string().optional() }).optional(),
  networks: z
    .array(
      z.object({
        name: networkName.optional(),
        subnetName: networkName.optional(),
        network: z.string().optional(),
        fixedIP: z.string().optional(),
        defaultRoute: z.boolean().optional(),
      }),
    )
    .max(256)
    .optional(),
  managementNetwork: z.string().optional(),
  ansibleUser: z.string().optional(),
  ansiblePort: z.int().optional(),
  ansibleVars: z.string().max(MAX_ANSIBLE_VARS).optional().describe('YAML: variables for the inventory'),
  ansibleSSHPrivateKeySecret: z.string().optional(),
  extraMounts: extraMountsSchema.optional(),
  userData: secretReferenceSchema.optional(),
  networkData: secretReferenceSchema.optional(),
  nova: novaTemplateSchema.optional(),
})

export type DeployStrategy = z.input<typeof deployStrategySchema>
export type NodeSection = z.infer<typeof nodeSectionSchema>

/** What is deployed on a host: the inputs of the last run that succeeded on it. */
export const appliedSchema = z.object({
  hash: z.string().describe('of everything that went into the run'),
  run: z.string().describe('the OpenStackAnsibleEE that did it'),
  at: z.string().meta({ format: 'date-time' }).optional(),
  request: z.string().optional().describe('the run request that it answered'),
  overwrittenBy: z
    .string()
    .optional()
    .describe('a later OpenStackAnsibleEE with other inputs that has not succeeded: the host may have a part of both'),
})
export type Applied = z.infer<typeof appliedSchema>

export const commonStatusFields = {
  conditions: z.array(conditionSchema).optional(),
  observedGeneration: z.int().meta({ format: 'int64' }).optional(),
} as const

export interface CommonStatus {
  readonly conditions?: readonly Condition[]
  readonly observedGeneration?: number
}

/** Ready is always the first condition. */
export const readyColumns = [
  { name: 'Status', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Status' },
  { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
] as const

const roleSpecSchema = z.object({
  dataPlane: z.string().optional(),
  baremetalSetTemplate: baremetalTemplateSchema.optional(),
  nodeTemplate: nodeSectionSchema.optional(),
  preProvisioned: z.boolean().optional(),
  env: envSchema.optional(),
  deployStrategy: deployStrategySchema.optional(),
  networkAttachments: networkAttachmentsSchema.optional(),
  services: z
    .array(z.string())
    .max(256)
    .default(['configure-network', 'validate-network', 'install-os', 'configure-os', 'run-os']),
})

const nodeSpecSchema = z.object({
  hostName: z.string().optional(),
  node: nodeSectionSchema.optional(),
  role: z.string().optional(),
  ansibleHost: z.string().optional(),
  env: envSchema.optional(),
  deployStrategy: deployStrategySchema.optional(),
  networkAttachments: networkAttachmentsSchema.optional(),
})

export type DataPlaneRoleSpec = z.input<typeof roleSpecSchema>
export type DataPlaneNodeSpec = z.input<typeof nodeSpecSchema>

export interface DataPlaneSpec {
  readonly nodes?: Readonly<Record<string, DataPlaneNodeSpec>>
  readonly roles?: Readonly<Record<string, DataPlaneRoleSpec>>
  readonly deployStrategy?: DeployStrategy
}

export interface DataPlaneStatus extends CommonStatus {
  readonly deployed?: boolean
}
export type DataPlane = SpecObject<DataPlaneSpec, DataPlaneStatus>

export const dataPlanes = { apiVersion: dataPlaneVersion, kind: 'OpenStackDataPlane' } as const

export const dataPlaneKind: KindDefinition = {
  ...dataPlaneGroup,
  kind: dataPlanes.kind,
  plural: 'openstackdataplanes',
  shortNames: ['osdp', 'osdps', 'osdataplane', 'osdataplanes'],
  scope: 'Namespaced',
  spec: z.object({
    nodes: z.record(z.string(), nodeSpecSchema).optional(),
    roles: z.record(z.string(), roleSpecSchema).optional(),
    deployStrategy: deployStrategySchema.optional(),
  }),
  status: z.object({ ...commonStatusFields, deployed: z.boolean().optional() }),
  columns: readyColumns,
}

/** The settings that a set of nodes shares. */
export interface DataPlaneRoleStatus extends CommonStatus {
  readonly deployed?: boolean
  readonly inventorySecretName?: string
  readonly nodes?: number
  readonly readyNodes?: number
}
export type DataPlaneRole = SpecObject<DataPlaneRoleSpec, DataPlaneRoleStatus>

export const dataPlaneRoles = { apiVersion: dataPlaneVersion, kind: 'OpenStackDataPlaneRole' } as const

export const dataPlaneRoleKind: KindDefinition = {
  ...dataPlaneGroup,
  kind: dataPlaneRoles.kind,
  plural: 'openstackdataplaneroles',
  shortNames: ['osdprole', 'osdproles'],
  scope: 'Namespaced',
  spec: roleSpecSchema,
  status: z.object({
    ...commonStatusFields,
    deployed: z.boolean().optional(),
    inventorySecretName: z.string().optional(),
    nodes: z.int().optional(),
    readyNodes: z.int().optional(),
  }),
  columns: readyColumns,
}

/** One host outside the cluster. */
export interface DataPlaneNodeStatus extends CommonStatus {
  readonly deployed?: boolean
  readonly inventorySecretName?: string
  readonly bareMetalHost?: string
  readonly sshHostKeys?: readonly string[]
  readonly applied?: Readonly<Record<string, Applied>>
}
export type DataPlaneNode = SpecObject<DataPlaneNodeSpec, DataPlaneNodeStatus>

export const dataPlaneNodes = { apiVersion: dataPlaneVersion, kind: 'OpenStackDataPlaneNode' } as const

/** The SSH host keys of a node, one per line: they replace those in its status. */
export const HOST_KEYS_ANNOTATION = 'stackloom.dev/ssh-host-keys'

/** Upstream's label with the role of a node. */
export const ROLE_LABEL = 'openstackdataplanerole'

export const dataPlaneNodeKind: KindDefinition = {
  ...dataPlaneGroup,
  kind: dataPlaneNodes.kind,
  plural: 'openstackdataplanenodes',
  shortNames: ['osdpnode', 'osdpnodes'],
  scope: 'Namespaced',
  spec: nodeSpecSchema,
  status: z.object({
    ...commonStatusFields,
    deployed: z.boolean().optional(),
    inventorySecretName: z.string().optional(),
    bareMetalHost: z.string().optional().describe('the BareMetalHost that this node took, as namespace/name'),
    sshHostKeys: z
      .array(z.string())
      .optional()
      .describe('the SSH host keys that runs accept: of the annotation, or of the first connection'),
    applied: z
      .record(z.string(), appliedSchema)
      .optional()
      .describe('what was done to this host, by service of its role'),
  }),
  columns: readyColumns,
}

/** One step of phase 0, as a play or a role. The OpenStack services of phase 1 are `service-object.ts`. */
export interface DataPlaneServiceSpec {
  readonly label?: string
  readonly play?: string
  readonly role?: AnsibleRole
  readonly openStackAnsibleEERunnerImage?: string
}
export type DataPlaneService = SpecObject<DataPlaneServiceSpec, CommonStatus>

export const dataPlaneServices = { apiVersion: dataPlaneVersion, kind: 'OpenStackDataPlaneService' } as const

export const dataPlaneServiceKind: KindDefinition = {
  ...dataPlaneGroup,
  kind: dataPlaneServices.kind,
  plural: 'openstackdataplaneservices',
  shortNames: ['osdpservice', 'osdpservices'],
  scope: 'Namespaced',
  spec: z.object({
    label: z.string().optional(),
    play: z.string().optional(),
    role: ansibleRoleSchema.optional(),
    openStackAnsibleEERunnerImage: z.string().optional(),
  }),
  status: z.object(commonStatusFields),
  columns: readyColumns,
}
