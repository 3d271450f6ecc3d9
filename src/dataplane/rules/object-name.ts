/** Checks texts of objects that become the name or a label of another object. Pure. */
import { finding } from '../../errors/finding.ts'
import { notAnObjectName } from '../findings/data-plane.ts'
import type { DataPlaneService } from '../kinds/data-plane.ts'
import type { FieldFinding } from './role-and-node.ts'

/** RFC 1123, as Kubernetes names objects. */
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

export function checkObjectName(field: string, value = ''): readonly FieldFinding[] {
  if (value === '' || (value.length <= 253 && OBJECT_NAME.test(value))) return []
  return [{ field, value, finding: finding(notAnObjectName, { field, value }) }]
}

/** The names of its runs begin with its label. */
export function checkDataPlaneService({ spec }: DataPlaneService): readonly FieldFinding[] {
  return checkObjectName('spec.label', spec.label)
}
