/**
 * Decides what happens to a service on a node: it is kept as the node requests, ignored, or refused.
 *
 * Pure. Webhooks refuse the change; controllers refuse where no webhook was called.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { boundServiceChanged, foreignService, serviceStillExists } from '../findings/data-plane.ts'
import type { DataPlaneNode, DataPlaneRole } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { effectiveAnnotation } from './inheritance.ts'
import { readServiceRequest, type ServiceAnnotation } from './service-annotation.ts'

export type Placement =
  | { readonly kind: 'ignored' }
  /** The fields that follow from the annotation. */
  | { readonly kind: 'kept'; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'refused'; readonly finding: Finding }

export function decidePlacement(
  annotation: ServiceAnnotation,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject | undefined,
): Placement {
  const { key, immutableField } = annotation
  const { kind } = annotation.kind
  const { name } = node.metadata
  const request = readServiceRequest(annotation, node, role)
  if (request.kind === 'malformed') return { kind: 'ignored' }
  if (request.kind === 'none') {
    // A service object that no annotation created is independent; one that is being deleted may finish.
    if (!object || !isManagedForNode(object) || object.metadata.deletionTimestamp) return { kind: 'ignored' }
    return { kind: 'refused', finding: finding(serviceStillExists, { key, node: name, kind }) }
  }
  const named = object?.spec.dataplaneNodeName
  if (object && named !== undefined && named !== name) {
    const facts = { kind, name: object.metadata.name, node: named }
    return { kind: 'refused', finding: finding(foreignService, facts) }
  }
  const bound = immutableField === undefined ? undefined : (object?.spec[immutableField] as string | undefined)
  if (immutableField !== undefined && bound && bound !== request.fields[immutableField]) {
    const facts = {
      key,
      node: name,
      kind,
      field: immutableField,
      bound,
      asked: effectiveAnnotation(node, role, key) ?? '',
    }
    return { kind: 'refused', finding: finding(boundServiceChanged, facts) }
  }
  return { kind: 'kept', fields: request.fields }
}

/** Created or adopted by the controller. */
function isManagedForNode({ spec, metadata }: ServiceObject): boolean {
  return spec.dataplaneNodeName === metadata.name
}
