/** Defines OVNMetadataAgent (neutron.openstack.org/v1beta1): the OVN metadata agent on one data plane node. */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import type { SpecObject } from '../../api/object.ts'
import { readyColumns } from './data-plane.ts'
import { type ServiceSpec, type ServiceStatus, serviceSpecFields, serviceStatusSchema } from './service-object.ts'

const neutronGroup = { group: 'neutron.openstack.org', version: 'v1beta1' } as const

export interface OvnMetadataAgentSpec extends ServiceSpec {
  readonly neutronConfigSecretName?: string
  readonly novaMetadataSecretName?: string
  readonly ovnMetadataAgentContainerImage?: string
}
export type OvnMetadataAgent = SpecObject<OvnMetadataAgentSpec, ServiceStatus>

export const ovnMetadataAgents = {
  apiVersion: `${neutronGroup.group}/${neutronGroup.version}`,
  kind: 'OVNMetadataAgent',
} as const

export const ovnMetadataAgentKind: KindDefinition = {
  ...neutronGroup,
  kind: ovnMetadataAgents.kind,
  plural: 'ovnmetadataagents',
  scope: 'Namespaced',
  spec: z.object({
    ...serviceSpecFields,
    neutronConfigSecretName: z
      .string()
      .default('neutron-ovn-metadata-agent-neutron-config')
      .describe("neutron's Secret for data plane nodes: the southbound database"),
    novaMetadataSecretName: z
      .string()
      .default('nova-metadata-neutron-config')
      .describe("nova's Secret for metadata agents: its address and the shared secret"),
    ovnMetadataAgentContainerImage: z.string().optional(),
  }),
  status: serviceStatusSchema,
  columns: readyColumns,
}
