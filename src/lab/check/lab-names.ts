/** Checks the names of the lab, its nodes and its domain, references to nodes, and that required roles exist. Pure. */
import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { badName, duplicateName, unknownReference } from '../../site/findings.ts'
import { invalidDomain, localDomain, missingRole } from '../findings/lab-file.ts'
import { nodesWithRole } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** The lab's name is part of a socket path, which may have 104 bytes. */
const MAX_LAB_NAME = 20

const REQUIRED_ROLES = [
  ['control', 'there would be no database, queue or API'],
  ['network', 'there would be no load balancer, and no node for the VIPs'],
  ['compute', 'no instance could run'],
] as const

export function checkNames(context: CheckContext): readonly Finding[] {
  return [...checkLabName(context), ...checkNodeNames(context), ...checkRoles(context), ...checkDomain(context)]
}

function checkLabName({ lab, nameLocation }: CheckContext): readonly Finding[] {
  const { name } = lab
  if (LABEL.test(name) && name.length <= MAX_LAB_NAME) return []
  return [finding(badName, { what: `lab (at most ${MAX_LAB_NAME} characters)`, name }, { where: nameLocation })]
}

function checkNodeNames({ lab, locate, locateKey }: CheckContext): readonly Finding[] {
  const names = lab.nodes.map((node) => node.name)
  const found: Finding[] = []
  names.forEach((name, index) => {
    const where = locate('nodes', index, 'name')
    if (!LABEL.test(name)) found.push(finding(badName, { what: 'node', name }, { where }))
    const first = names.indexOf(name)
    if (first < index) {
      const { file, line, column } = locate('nodes', first, 'name')
      found.push(finding(duplicateName, { what: 'node', name, first: `${file}:${line}:${column}` }, { where }))
    }
  })
  for (const name of Object.keys(lab.overrides.hostVars)) {
    if (names.includes(name)) continue
    const facts = { what: 'node', name, within: 'the lab', nearest: closestMatch(name, names), known: names }
    found.push(finding(unknownReference, facts, { where: locateKey('openstack', 'hostVars', name) }))
  }
  return found
}

function checkRoles({ lab, locate }: CheckContext): readonly Finding[] {
  return REQUIRED_ROLES.filter(([role]) => nodesWithRole(lab, role).length === 0).map(([role, why]) =>
    finding(missingRole, { role, why }, { where: locate('nodes') }),
  )
}

function checkDomain({ lab, locate }: CheckContext): readonly Finding[] {
  const { domain: name } = lab.dns
  const where = locate('dns', 'domain')
  const labels = name.split('.')
  const invalid = labels.find((label) => !LABEL.test(label))
  if (invalid !== undefined || name.length > 200) {
    const why = invalid === undefined ? 'it is too long' : `${JSON.stringify(invalid)} is not a DNS label`
    return [finding(invalidDomain, { domain: name, why }, { where })]
  }
  if (labels.length < 2) return [finding(invalidDomain, { domain: name, why: 'it has only one label' }, { where })]
  return labels.at(-1) === 'local' ? [finding(localDomain, { domain: name }, { where })] : []
}
