/** What a role or a node must satisfy, beyond its schema: for webhooks and controllers alike. */
import {
  deprecatedField,
  malformedServiceAnnotation,
  unreadableAnsibleVars,
  unsafeAnsibleOption,
} from '../errors/dataplane.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { checkAnsibleVars } from '../ini/ansible-vars.ts'
import type { DeployStrategy, NodeSection } from './dataplane.ts'
import { ansibleVarsProblem, varsOf } from './dataplane-inheritance.ts'
import type { DataPlaneNode } from './dataplane-node.ts'
import type { DataPlaneRole } from './dataplane-role.ts'
import type { ServiceAnnotation } from './service-annotation.ts'

/** A finding, and the field that it is about. */
export interface FieldFinding {
  readonly field: string
  readonly value: unknown
  readonly finding: Finding
}

export function roleFindings(
  role: DataPlaneRole,
  annotations: readonly ServiceAnnotation[],
): readonly FieldFinding[] {
  return [
    ...annotationFindings(role, annotations),
    ...sectionFindings(role.spec.nodeTemplate ?? {}, 'spec.nodeTemplate', 'role'),
    ...strategyFindings(role.spec.deployStrategy),
  ]
}

export function nodeFindings(
  node: DataPlaneNode,
  annotations: readonly ServiceAnnotation[],
): readonly FieldFinding[] {
  return [
    ...annotationFindings(node, annotations),
    ...sectionFindings(node.spec.node ?? {}, 'spec.node', 'node'),
    ...strategyFindings(node.spec.deployStrategy),
  ]
}

function annotationFindings(
  { metadata }: DataPlaneRole | DataPlaneNode,
  annotations: readonly ServiceAnnotation[],
): readonly FieldFinding[] {
  return annotations.flatMap(({ key, read }): readonly FieldFinding[] => {
    const value = metadata.annotations?.[key]
    const asked = value === undefined ? undefined : read(value)
    if (value === undefined || asked?.kind !== 'malformed') return []
    const { why, remedy } = asked
    const said = finding(malformedServiceAnnotation, { key, value, why, remedy })
    return [{ field: `metadata.annotations[${key}]`, value, finding: said }]
  })
}

function sectionFindings(
  section: NodeSection,
  field: string,
  whose: 'role' | 'node',
): readonly FieldFinding[] {
  const { ansibleVars, nova } = section
  const at = `${field}.ansibleVars`
  const problem = ansibleVarsProblem(ansibleVars)
  if (problem !== undefined) {
    return [
      { field: at, value: ansibleVars, finding: finding(unreadableAnsibleVars, { field: at, why: problem }) },
    ]
  }
  const hidden = checkAnsibleVars(varsOf(ansibleVars), []).map((one) => ({
    field: at,
    value: undefined,
    finding: one,
  }))
  if (!nova) return hidden
  const old = finding(deprecatedField, { field: `${field}.nova`, instead: insteadOfNova(nova, whose) })
  return [...hidden, { field: `${field}.nova`, value: nova, finding: old }]
}

function insteadOfNova(
  {
    novaInstance = 'nova',
    cellName = 'cell1',
    customServiceConfig,
    deploy,
  }: NonNullable<NodeSection['nova']>,
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

const WORDS = /^[\w.,-]*$/
const PATTERNS = /^[\w.,:*!-]*$/

function strategyFindings(strategy: DeployStrategy | undefined): readonly FieldFinding[] {
  const fields = [
    ['ansibleTags', WORDS],
    ['ansibleSkipTags', WORDS],
    ['ansibleLimit', PATTERNS],
  ] as const
  return fields.flatMap(([name, allowed]): readonly FieldFinding[] => {
    const value = strategy?.[name] ?? ''
    const field = `spec.deployStrategy.${name}`
    // A leading dash would be read as an option of its own.
    if (allowed.test(value) && !value.startsWith('-')) return []
    return [{ field, value, finding: finding(unsafeAnsibleOption, { field, value }) }]
  })
}
