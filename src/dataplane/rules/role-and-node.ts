/** Checks roles and nodes beyond their schemas, for webhooks and controllers alike. */
import { type Finding, finding } from '../../errors/finding.ts'
import { checkAnsibleVars } from '../../ini/ansible-vars.ts'
import {
  deprecatedField,
  malformedServiceAnnotation,
  unreadableAnsibleVars,
  unsafeAnsibleOption,
  unsafeHostField,
} from '../findings/data-plane.ts'
import type { DataPlaneNode, DataPlaneRole, DeployStrategy, NodeSection } from '../kinds/data-plane.ts'
import { readAnsibleVars } from './inheritance.ts'
import { checkObjectName } from './object-name.ts'
import type { ServiceAnnotation } from './service-annotation.ts'

export interface FieldFinding {
  readonly field: string
  readonly value: unknown
  readonly finding: Finding
}

export function checkRole(role: DataPlaneRole, annotations: readonly ServiceAnnotation[]): readonly FieldFinding[] {
  return [
    ...checkAnnotations(role, annotations),
    ...checkObjectName('spec.dataPlane', role.spec.dataPlane),
    ...checkSection(role.spec.nodeTemplate ?? {}, 'spec.nodeTemplate', 'role'),
    ...checkStrategy(role.spec.deployStrategy),
  ]
}

export function checkNode(node: DataPlaneNode, annotations: readonly ServiceAnnotation[]): readonly FieldFinding[] {
  return [
    ...checkAnnotations(node, annotations),
    ...checkObjectName('spec.role', node.spec.role),
    ...checkHostField('spec.hostName', node.spec.hostName),
    ...checkHostField('spec.ansibleHost', node.spec.ansibleHost),
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
    const request = value === undefined ? undefined : parse(value)
    if (value === undefined || request?.kind !== 'malformed') return []
    const { why, remedy } = request
    const malformed = finding(malformedServiceAnnotation, { key, value, why, remedy })
    return [{ field: `metadata.annotations[${key}]`, value, finding: malformed }]
  })
}

/** Ansible passes it to ssh, which would read a leading dash as an option and run what the option says. */
const HOST_FIELD = /^[^\s"'`{}$;|&<>\\\p{Cc}-][^\s"'`{}$;|&<>\p{Cc}]*$/u

function checkHostField(field: string, value = ''): readonly FieldFinding[] {
  if (value === '' || HOST_FIELD.test(value)) return []
  return [{ field, value, finding: finding(unsafeHostField, { field, value }) }]
}

function checkSection(section: NodeSection, field: string, owner: 'role' | 'node'): readonly FieldFinding[] {
  return [...checkHostField(`${field}.ansibleUser`, section.ansibleUser), ...checkVarsAndNova(section, field, owner)]
}

function checkVarsAndNova(section: NodeSection, field: string, owner: 'role' | 'node'): readonly FieldFinding[] {
  const { ansibleVars, nova } = section
  const varsField = `${field}.ansibleVars`
  const { vars, problem } = readAnsibleVars(ansibleVars)
  if (problem !== undefined) {
    const unreadable = finding(unreadableAnsibleVars, { field: varsField, why: problem })
    return [{ field: varsField, value: ansibleVars, finding: unreadable }]
  }
  const hidden = checkAnsibleVars(vars, []).map((found) => ({
    field: varsField,
    value: undefined,
    finding: found,
  }))
  if (!nova) return hidden
  const deprecated = finding(deprecatedField, { field: `${field}.nova`, instead: novaReplacement(nova, owner) })
  return [...hidden, { field: `${field}.nova`, value: nova, finding: deprecated }]
}

function novaReplacement(
  { novaInstance = 'nova', cellName = 'cell1', customServiceConfig, deploy }: NonNullable<NodeSection['nova']>,
  owner: 'role' | 'node',
): string {
  const steps = [`annotate the ${owner} with \`nova.openstack.org/cell: ${novaInstance}-${cellName}\``]
  if (deploy === false) steps.push('and `nova.openstack.org/deploy: "false"`')
  if (customServiceConfig) {
    const target = `${owner === 'node' ? 'its' : "each node's"} NovaExternalCompute`
    steps.push(`and set customServiceConfig of ${target} to ${JSON.stringify(customServiceConfig)}`)
  }
  return steps.join(', ')
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
    // A leading dash would be read as another option.
    if (allowed.test(value) && !value.startsWith('-')) return []
    return [{ field, value, finding: finding(unsafeAnsibleOption, { field, value }) }]
  })
}
