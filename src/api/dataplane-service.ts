/**
 * OpenStackDataPlaneService (dataplane.openstack.org/v1beta1): one step of phase 0, as a play or a role. The OpenStack
 * services of phase 1 are another thing: `service-cr.ts` and `node-services`.
 */
import * as z from 'zod'
import { type AnsibleRole, ansibleRoleSchema } from './ansibleee.ts'
import type { KindDefinition } from './crd.ts'
import {
  type CommonStatus,
  commonStatus,
  dataPlaneGroup,
  dataPlaneVersion,
  readyColumns,
} from './dataplane.ts'
import type { SpecObject } from './object.ts'

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
  status: z.object(commonStatus),
  columns: readyColumns,
}
