/**
 * Defines the part of NovaCell (nova.openstack.org/v1beta1) that a compute node needs. nova-operator writes it; the CRD
 * here is for clusters without upstream's.
 */
import * as z from 'zod'
import { type KindDefinition, preserveUnknown } from '../../api/crd.ts'
import type { Condition, SpecObject } from '../../api/object.ts'
import { commonStatusFields } from './data-plane.ts'
import { novaGroup, novaVersion } from './nova-external-compute.ts'

export interface NovaCellSpec {
  /** The name of the cell within its Nova: cell0, cell1, … */
  readonly cellName?: string
  readonly cellMessageBusSecretName?: string
  readonly secret?: string
  readonly serviceUser?: string
  readonly keystoneAuthURL?: string
}
export interface NovaCellStatus {
  readonly conditions?: readonly Condition[]
  readonly observedGeneration?: number
}
export type NovaCell = SpecObject<NovaCellSpec, NovaCellStatus>

export const novaCells = { apiVersion: novaVersion, kind: 'NovaCell' } as const

export const novaCellKind: KindDefinition = {
  ...novaGroup,
  kind: novaCells.kind,
  plural: 'novacells',
  scope: 'Namespaced',
  spec: z.looseObject({ cellName: z.string().optional() }).meta(preserveUnknown),
  status: z.looseObject(commonStatusFields).meta(preserveUnknown),
}
