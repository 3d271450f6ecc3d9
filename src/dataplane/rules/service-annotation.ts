/**
 * Annotations that put an OpenStack service on a node: which key, which kind it makes, what its text means.
 *
 * Which there are is said by the services themselves, in `node-services`.
 */

import type { GroupVersionKind } from '../../api/object.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import { effectiveAnnotation } from './inheritance.ts'

export type ServiceRequest =
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
  readonly parse: (text: string) => ServiceRequest
  /** The field that binds the service for good: once an object has it, the annotation must not say otherwise. */
  readonly immutableField?: string
}

/** The text of an annotation that is only on or off. */
export function parseOnOff(text: string): ServiceRequest {
  if (text === '' || text === 'false') return { kind: 'none' }
  if (text === 'true') return { kind: 'wanted', fields: {} }
  return { kind: 'malformed', why: 'it is neither "true" nor "false"', remedy: 'write "true" or "false"' }
}

/** What a node and its role together ask of a service. */
export function readServiceRequest(
  annotation: ServiceAnnotation,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
): ServiceRequest {
  const text = effectiveAnnotation(node, role, annotation.key)
  return text === undefined ? { kind: 'none' } : annotation.parse(text)
}
