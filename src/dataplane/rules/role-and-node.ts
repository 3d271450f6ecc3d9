/** What a role or a node must satisfy, beyond its schema: for webhooks and controllers alike. */

import { type Finding, finding } from '../../errors/finding.ts'
import { checkAnsibleVars } from '../../ini/ansible-vars.ts'
import {
  deprecatedField,
  malformedServiceAnnotation,
  unreadableAnsibleVars,
  unsafeAnsibleOption,
} from '../findings/data-plane.ts'
import type { DeployStrategy, NodeSection } from '../kinds/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import { ansibleVarsProblem, parseAnsibleVars } from './inheritance.ts'
import type { ServiceAnnotation } from './service-annotation.ts'

/** A finding, and the field that it is about. */
export interface FieldFinding {
  readonly field: string
  readonly value: unknown
  readonly finding: Finding
}

export function checkRole(role: DataPlaneRole, annotations: readonly ServiceAnnotation[]): readonly FieldFinding[] {
  return [
    ...checkAnnotations(role, annotations),
    ...checkSection(role.spec.nodeTemplate ?? {}, 'spec.nodeTemplate', 'role'),
    ...checkStrategy(role.spec.deployStrategy),
  ]
}

export function checkNode(node: DataPlaneNode, annotations: readonly ServiceAnnotation[]): readonly FieldFinding[] {
  return [
    ...checkAnnotations(node, annotations),
    ...checkSection(node.spec.node ?? {}, 'spec.node', 'node'),
    ...checkStrategy(node.spec.deployStrategy),
  ]
}

function checkAnnotations(
  { metadata }: DataPlaneRole | DataPlaneNode,
  annotations: readonly ServiceAnnotation[],
): readonly FieldFinding[] {
  return annotations.flatMap(({ key, parse }): readonly FieldFinding[] => {
    const value = metadata.annotations?.[key]
    const asked = value === undefined ? undefined : parse(value)
    if (value === undefined || asked?.kind !== 'malformed') return []
    const { why, remedy } = asked
    const said = finding(malformedServiceAnnotation, { key, value, why, remedy })
    return [{ field: `metadata.annotations[${key}]`, value, finding: said }]
  })
}

function checkSection(section: NodeSection, field: string, whose: 'role' | 'node'): readonly FieldFinding[] {
  const { ansibleVars, nova } = section
  const at = `${field}.ansibleVars`
  const problem = ansibleVarsProblem(ansibleVars)
  if (problem !== undefined) {
    return [{ field: at, value: ansibleVars, finding: finding(unreadableAnsibleVars, { field: at, why: problem }) }]
  }
  const hidden = checkAnsibleVars(parseAnsibleVars(ansibleVars), []).map((checkAnsibleVariable) => ({
    field: at,
    value: undefined,
    finding: checkAnsibleVariable,
  }))
  if (!nova) return hidden
  const old = finding(deprecatedField, { field: `${field}.nova`, instead: novaReplacement(nova, whose) })
  return [...hidden, { field: `${field}.nova`, value: nova, finding: old }]
}

function novaReplacement(
  { novaInstance = 'nova', cellName = 'cell1', customServiceConfig, deploy }: NonNullable<NodeSection['nova']>,
  whose: 'role' | 'node',
): string {
  const words = [`annotate the ${whose} with \`nova.openstack.org/cell: ${novaInstance}-${cellName}\``]
  if (deploy === false) words.push('and `nova.openstack.org/deploy: "false"`')
  if (customServiceConfig) {
    words.push(
      `and set customServiceConfig of ${whose === 'node' ? 'its' : "each node's"} NovaExternalCompute to ${JSON.stringify(customServiceConfig)}`,
    )
  }
  return words.join(', ')
}

const NAME_LIST = /^[\w.,-]*$/
const PATTERN_LIST = /^[\w.,:*!-]*$/

function checkStrategy(strategy: DeployStrategy | undefined): readonly FieldFinding[] {
  const fields = [
    ['ansibleTags', NAME_LIST],
    ['ansibleSkipTags', NAME_LIST],
    ['ansibleLimit', PATTERN_LIST],
  ] as const
  return fields.flatMap(([name, allowed]): readonly FieldFinding[] => {
    const value = strategy?.[name] ?? ''
    const field = `spec.deployStrategy.${name}`
    // A leading dash would be read as an option of its own.
    if (allowed.test(value) && !value.startsWith('-')) return []
    return [{ field, value, finding: finding(unsafeAnsibleOption, { field, value }) }]
  })
}
