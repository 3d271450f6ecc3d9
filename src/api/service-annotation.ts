/**
 * Annotations that put an OpenStack service on a node: which key, which kind it makes, what its text means.
 *
 * Which there are is said by the services themselves, in `node-services`.
 */
import { effectiveAnnotation } from './dataplane-inheritance.ts'
import type { DataPlaneNode } from './dataplane-node.ts'
import type { DataPlaneRole } from './dataplane-role.ts'
import type { GroupVersionKind } from './object.ts'

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

/** The text of an annotation that is only on or off. */
export function onOrOff(text: string): Asked {
  if (text === '' || text === 'false') return { kind: 'none' }
  if (text === 'true') return { kind: 'wanted', fields: {} }
  return { kind: 'malformed', why: 'it is neither "true" nor "false"', remedy: 'write "true" or "false"' }
}

/** What a node and its role together ask of a service. */
export function askedOf(
  annotation: ServiceAnnotation,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
): Asked {
  const text = effectiveAnnotation(node, role, annotation.key)
  return text === undefined ? { kind: 'none' } : annotation.read(text)
}
