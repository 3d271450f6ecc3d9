/**
 * Annotations that put an OpenStack service on a node: which key, which kind it makes, what its text means.
 *
 * Data: a further service is a further value. The engine, the webhooks and the status view read nothing else of a service
 * to know whether a node has it.
 */
import { effectiveAnnotation } from './dataplane-inheritance.ts'
import type { DataPlaneNode } from './dataplane-node.ts'
import type { DataPlaneRole } from './dataplane-role.ts'
import { novaExternalComputes } from './nova-external-compute.ts'
import type { GroupVersionKind } from './object.ts'
import { ovnMetadataAgents } from './ovn-metadata-agent.ts'

export type Asked =
  | { readonly kind: 'none' }
  /** The fields that follow from the text. */
  | { readonly kind: 'wanted'; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'malformed'; readonly why: string; readonly remedy: string }

export interface ServiceAnnotation {
  /** `nova.openstack.org/cell` */
  readonly key: string
  /** `"false"` under this key holds every run of the service. */
  readonly holdKey: string
  /** The object that the annotation makes, named as its node. */
  readonly kind: GroupVersionKind
  readonly read: (text: string) => Asked
  /** The field that binds the service for good: once an object has it, the annotation must not say otherwise. */
  readonly bound?: string
}

/** RFC 1123, as Kubernetes names objects. */
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/
const CELL0 = /(^|-)cell0$/

export const novaCellAnnotation: ServiceAnnotation = {
  key: 'nova.openstack.org/cell',
  holdKey: 'nova.openstack.org/deploy',
  kind: novaExternalComputes,
  bound: 'cellName',
  read: (text) => {
    if (text === '') return { kind: 'none' }
    const remedy = 'name a NovaCell object, such as nova-cell1; leave it empty where a node is no compute'
    if (!NAME.test(text) || text.length > 253) {
      return { kind: 'malformed', why: 'it is not the name of an object', remedy }
    }
    if (CELL0.test(text)) return { kind: 'malformed', why: 'cell0 never has compute nodes', remedy }
    return { kind: 'wanted', fields: { cellName: text } }
  },
}

export const ovnMetadataAnnotation: ServiceAnnotation = {
  key: 'neutron.openstack.org/ovn-metadata-agent',
  holdKey: 'neutron.openstack.org/deploy',
  kind: ovnMetadataAgents,
  read: (text) => {
    if (text === '' || text === 'false') return { kind: 'none' }
    if (text === 'true') return { kind: 'wanted', fields: {} }
    return { kind: 'malformed', why: 'it is neither "true" nor "false"', remedy: 'write "true" or "false"' }
  },
}

export const serviceAnnotations: readonly ServiceAnnotation[] = [novaCellAnnotation, ovnMetadataAnnotation]

/** What a node and its role together ask of a service. */
export function askedOf(
  annotation: ServiceAnnotation,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
): Asked {
  const text = effectiveAnnotation(node, role, annotation.key)
  return text === undefined ? { kind: 'none' } : annotation.read(text)
}
