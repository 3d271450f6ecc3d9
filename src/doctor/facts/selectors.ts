/** Kubernetes label selectors: `matchLabels` and `matchExpressions`, all of which must hold. */

import { at, listAt } from '../../api/raw-object.ts'
import { recordOf, textOf, textsOf } from '../../yaml/loose.ts'

export function matchesLabels(
  selector: unknown,
  labels: Readonly<Record<string, string>> | undefined = {},
): boolean {
  const equal = Object.entries(recordOf(at(selector, 'matchLabels')))
  return (
    equal.every(([key, value]) => labels[key] === value) &&
    listAt(selector, 'matchExpressions').every((one) => expressionHolds(recordOf(one), labels))
  )
}

function expressionHolds(
  expression: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[textOf(expression['key']) ?? '']
  const values = textsOf(expression['values'])
  switch (expression['operator']) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}
