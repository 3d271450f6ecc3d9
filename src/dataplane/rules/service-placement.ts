/**
 * What is to become of a service on a node: made, kept as the node says, left alone, or refused.
 *
 * Pure, and the same for webhooks, which refuse the change, and for controllers, which refuse where no webhook was asked.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import { boundServiceChanged, foreignService, serviceStillExists } from '../findings/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { effectiveAnnotation } from './inheritance.ts'
import { readServiceRequest, type ServiceAnnotation } from './service-annotation.ts'

export type Placement =
  | { readonly kind: 'nothing' }
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
  const asked = readServiceRequest(annotation, node, role)
  if (asked.kind === 'malformed') return { kind: 'nothing' }
  if (asked.kind === 'none') {
    // A service that the annotation never made may stand by itself.
    // One that is on its way out was asked to go by name, and is let go whether or not anybody still wants it.
    if (!object || !isManagedForNode(object) || object.metadata.deletionTimestamp) return { kind: 'nothing' }
    return { kind: 'refused', finding: finding(serviceStillExists, { key, node: name, kind }) }
  }
  const named = object?.spec.dataplaneNodeName
  if (object && named !== undefined && named !== name) {
    const facts = { kind, name: object.metadata.name, node: named }
    return { kind: 'refused', finding: finding(foreignService, facts) }
  }
  const held = immutableField === undefined ? undefined : (object?.spec[immutableField] as string | undefined)
  if (immutableField !== undefined && held && held !== asked.fields[immutableField]) {
    const facts = {
      key,
      node: name,
      kind,
      field: immutableField,
      bound: held,
      asked: effectiveAnnotation(node, role, key) ?? '',
    }
    return { kind: 'refused', finding: finding(boundServiceChanged, facts) }
  }
  return { kind: 'kept', fields: asked.fields }
}

/** Made or adopted by the controller: it says which node it is for. */
function isManagedForNode({ spec, metadata }: ServiceObject): boolean {
  return spec.dataplaneNodeName === metadata.name
}
