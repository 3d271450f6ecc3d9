/** Defines OpenStackDataPlaneRole (dataplane.openstack.org/v1beta1): the settings that a set of nodes shares. */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import type { SpecObject } from '../../api/object.ts'
import {
  type CommonStatus,
  commonStatusFields,
  type DataPlaneRoleSpec,
  dataPlaneGroup,
  dataPlaneVersion,
  readyColumns,
  roleSpecSchema,
} from './data-plane.ts'

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
