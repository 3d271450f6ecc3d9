/** Reads the annotations that request OpenStack services for nodes. The service definitions list them. */
import type { GroupVersionKind } from '../../api/object.ts'
import type { DataPlaneNode, DataPlaneRole } from '../kinds/data-plane.ts'
import { effectiveAnnotation } from './inheritance.ts'

export type ServiceRequest =
  | { readonly kind: 'none' }
  /** The fields of the service object that follow from the value. */
  | { readonly kind: 'requested'; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'malformed'; readonly why: string; readonly remedy: string }

export interface ServiceAnnotation {
  /** `nova.openstack.org/cell` */
  readonly key: string
  /** `"false"` under this key suspends all runs of the service. */
  readonly holdKey: string
  /** The object that the annotation creates, with the name of its node. */
  readonly kind: GroupVersionKind
  readonly parse: (text: string) => ServiceRequest
  /** The field that binds the service: once an object has it, the annotation must not contradict it. */
  readonly immutableField?: string
}

export function parseOnOff(text: string): ServiceRequest {
  if (text === '' || text === 'false') return { kind: 'none' }
  if (text === 'true') return { kind: 'requested', fields: {} }
  return { kind: 'malformed', why: 'it is neither "true" nor "false"', remedy: 'write "true" or "false"' }
}

export function readServiceRequest(
  annotation: ServiceAnnotation,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
): ServiceRequest {
  const text = effectiveAnnotation(node, role, annotation.key)
  return text === undefined ? { kind: 'none' } : annotation.parse(text)
}
