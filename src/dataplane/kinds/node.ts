/** Defines OpenStackDataPlaneNode (dataplane.openstack.org/v1beta1): one host outside the cluster. */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import type { SpecObject } from '../../api/object.ts'
import {
  type Applied,
  appliedSchema,
  type CommonStatus,
  commonStatusFields,
  type DataPlaneNodeSpec,
  dataPlaneGroup,
  dataPlaneVersion,
  nodeSpecSchema,
  readyColumns,
} from './data-plane.ts'

export interface DataPlaneNodeStatus extends CommonStatus {
  readonly deployed?: boolean
  readonly inventorySecretName?: string
  readonly bareMetalHost?: string
  readonly applied?: Readonly<Record<string, Applied>>
}
export type DataPlaneNode = SpecObject<DataPlaneNodeSpec, DataPlaneNodeStatus>

export const dataPlaneNodes = { apiVersion: dataPlaneVersion, kind: 'OpenStackDataPlaneNode' } as const

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
    applied: z
      .record(z.string(), appliedSchema)
      .optional()
      .describe('what was done to this host, by service of its role'),
  }),
  columns: readyColumns,
}
