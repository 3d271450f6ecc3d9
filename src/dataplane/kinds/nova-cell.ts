/**
 * NovaCell (nova.openstack.org/v1beta1), as far as a compute node needs it. Written by nova-operator and only read
 * here; the definition below is for clusters that have none of upstream's.
 */
import * as z from 'zod'
import { type KindDefinition, preserveUnknown } from '../../api/crd.ts'
import type { Condition, SpecObject } from '../../api/object.ts'
import { commonStatusFields } from './data-plane.ts'
import { novaGroup, novaVersion } from './nova-external-compute.ts'

export interface NovaCellSpec {
  /** The cell's name inside its Nova: cell0, cell1, … */
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
