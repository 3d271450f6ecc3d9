/** Evaluates Kubernetes label selectors. */

import { asRecord, asString, asStrings } from './json.ts'
import { getField, getList } from './raw-object.ts'

export function matchesLabels(selector: unknown, labels: Readonly<Record<string, string>> | undefined = {}): boolean {
  const equal = Object.entries(asRecord(getField(selector, 'matchLabels')))
  return (
    equal.every(([key, value]) => labels[key] === value) &&
    getList(selector, 'matchExpressions').every((expression) => matchesExpression(asRecord(expression), labels))
  )
}

function matchesExpression(
  expression: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[asString(expression['key']) ?? '']
  const values = asStrings(expression['values'])
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
