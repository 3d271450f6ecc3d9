/** Defines NeutronSriovAgent (neutron.openstack.org/v1beta1): the SR-IOV NIC switch agent on one data plane node. */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import { readyColumns } from './data-plane.ts'
import { type ServiceSpec, serviceSpecFields, serviceStatusSchema } from './service-object.ts'

const neutronGroup = { group: 'neutron.openstack.org', version: 'v1beta1' } as const

export interface SriovAgentSpec extends ServiceSpec {
  readonly neutronConfigSecretName?: string
  readonly sriovAgentContainerImage?: string
}

export const sriovAgents = {
  apiVersion: `${neutronGroup.group}/${neutronGroup.version}`,
  kind: 'NeutronSriovAgent',
} as const

export const sriovAgentKind: KindDefinition = {
  ...neutronGroup,
  kind: sriovAgents.kind,
  plural: 'neutronsriovagents',
  scope: 'Namespaced',
  spec: z.object({
    ...serviceSpecFields,
    neutronConfigSecretName: z
      .string()
      .default('neutron-sriov-agent-neutron-config')
      .describe("neutron's Secret for SR-IOV agents: the message bus"),
    sriovAgentContainerImage: z.string().optional(),
  }),
  status: serviceStatusSchema,
  columns: readyColumns,
}
