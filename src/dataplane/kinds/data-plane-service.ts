/**
 * Defines OpenStackDataPlaneService (dataplane.openstack.org/v1beta1): one step of phase 0, as a play or a role. The
 * OpenStack services of phase 1 are different: `service-object.ts` and `service-definitions/`.
 */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import type { SpecObject } from '../../api/object.ts'
import { type AnsibleRole, ansibleRoleSchema } from './ansible-run.ts'
import { type CommonStatus, commonStatusFields, dataPlaneGroup, dataPlaneVersion, readyColumns } from './data-plane.ts'

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
