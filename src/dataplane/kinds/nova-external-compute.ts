/** Defines NovaExternalCompute (nova.openstack.org/v1beta1): nova-compute and libvirt on one data plane node. */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import type { SpecObject } from '../../api/object.ts'
import { readyColumns } from './data-plane.ts'
import {
  immutableOnceSet,
  type ServiceSpec,
  type ServiceStatus,
  serviceSpecFields,
  serviceStatusSchema,
} from './service-object.ts'

export const novaGroup = { group: 'nova.openstack.org', version: 'v1beta1' } as const
export const novaVersion = `${novaGroup.group}/${novaGroup.version}`

export interface NovaExternalComputeSpec extends ServiceSpec {
  readonly cellName?: string
  readonly novaInstance?: string
  readonly novaComputeContainerImage?: string
  readonly novaLibvirtContainerImage?: string
}
export type NovaExternalCompute = SpecObject<NovaExternalComputeSpec, ServiceStatus>

export const novaExternalComputes = { apiVersion: novaVersion, kind: 'NovaExternalCompute' } as const

export const novaExternalComputeKind: KindDefinition = {
  ...novaGroup,
  kind: novaExternalComputes.kind,
  plural: 'novaexternalcomputes',
  scope: 'Namespaced',
  spec: z
    .object({
      ...serviceSpecFields,
      cellName: z.string().optional().describe('the name of the NovaCell object, such as nova-cell1'),
      novaInstance: z.string().optional().describe('Deprecated and ignored: cellName names the NovaCell'),
      novaComputeContainerImage: z.string().optional(),
      novaLibvirtContainerImage: z.string().optional(),
    })
    .meta(immutableOnceSet('cellName', 'nova cannot move a compute node to another cell: cellName is set once')),
  status: serviceStatusSchema,
  columns: [{ name: 'Cell', type: 'string', jsonPath: '.spec.cellName' }, ...readyColumns],
}
