/** Defines the kinds of nova.openstack.org/v1beta1: NovaExternalCompute, and the part of NovaCell that a compute node needs. */
import * as z from 'zod'
import { type KindDefinition, preserveUnknown } from '../../api/crd.ts'
import type { SpecObject } from '../../api/object.ts'
import { type CommonStatus, commonStatusFields, readyColumns } from './data-plane.ts'
import {
  immutableOnceSet,
  type ServiceSpec,
  type ServiceStatus,
  serviceSpecFields,
  serviceStatusSchema,
} from './service-object.ts'

const novaGroup = { group: 'nova.openstack.org', version: 'v1beta1' } as const
const novaVersion = `${novaGroup.group}/${novaGroup.version}`

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

/** Written by nova-operator; the CRD below is for clusters without upstream's. */
export interface NovaCellSpec {
  /** The name of the cell within its Nova: cell0, cell1, … */
  readonly cellName?: string
  readonly cellMessageBusSecretName?: string
  readonly secret?: string
  readonly serviceUser?: string
  readonly keystoneAuthURL?: string
}
export type NovaCell = SpecObject<NovaCellSpec, CommonStatus>

export const novaCells = { apiVersion: novaVersion, kind: 'NovaCell' } as const

export const novaCellKind: KindDefinition = {
  ...novaGroup,
  kind: novaCells.kind,
  plural: 'novacells',
  scope: 'Namespaced',
  spec: z.looseObject({ cellName: z.string().optional() }).meta(preserveUnknown),
  status: z.looseObject(commonStatusFields).meta(preserveUnknown),
}
