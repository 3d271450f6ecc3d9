/** Names: of the lab, its nodes and its domain; and references to nodes that must exist. Pure. */

import { closestMatch } from '../../errors/closest-match.ts'
import type { Finding } from '../../errors/finding.ts'
import { finding } from '../../errors/finding.ts'
import { badName, duplicateName, unknownReference } from '../../site/findings.ts'
import { invalidDomain, localDomain, missingRole } from '../findings/lab-file.ts'
import { nodesWithRole } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** A network name in Lima holds it, and so does a socket path of at most 104 bytes. */
const LONGEST_LAB = 20

const NEEDED = [
  ['control', 'there would be no database, queue or API'],
  ['network', 'there would be no load balancer, and nobody to hold the VIPs'],
  ['compute', 'no instance could run'],
] as const

export function checkNames(context: CheckContext): readonly Finding[] {
  return [...labName(context), ...nodeNames(context), ...neededRoles(context), ...domain(context)]
}

function labName({ lab, nameAt }: CheckContext): readonly Finding[] {
  const { name } = lab
  if (LABEL.test(name) && name.length <= LONGEST_LAB) return []
  return [finding(badName, { what: `lab (at most ${LONGEST_LAB} characters)`, name }, { where: nameAt })]
}

function nodeNames({ lab, at, keyAt }: CheckContext): readonly Finding[] {
  const names = lab.nodes.map((node) => node.name)
  const found: Finding[] = []
  names.forEach((name, index) => {
    const where = at('nodes', index, 'name')
    if (!LABEL.test(name)) found.push(finding(badName, { what: 'node', name }, { where }))
    const first = names.indexOf(name)
    if (first < index) {
      const { file, line, column } = at('nodes', first, 'name')
      found.push(finding(duplicateName, { what: 'node', name, first: `${file}:${line}:${column}` }, { where }))
    }
  })
  for (const name of Object.keys(lab.overrides.hostVars)) {
    if (names.includes(name)) continue
    const facts = { what: 'node', name, within: 'the lab', nearest: closestMatch(name, names), known: names }
    found.push(finding(unknownReference, facts, { where: keyAt('openstack', 'hostVars', name) }))
  }
  return found
}

function neededRoles({ lab, at }: CheckContext): readonly Finding[] {
  return NEEDED.filter(([role]) => nodesWithRole(lab, role).length === 0).map(([role, why]) =>
    finding(missingRole, { role, why }, { where: at('nodes') }),
  )
}

function domain({ lab, at }: CheckContext): readonly Finding[] {
  const { domain: name } = lab.dns
  const where = at('dns', 'domain')
  const labels = name.split('.')
  const wrong = labels.find((label) => !LABEL.test(label))
  if (wrong !== undefined || name.length > 200) {
    const why = wrong === undefined ? 'it is too long' : `${JSON.stringify(wrong)} is no DNS label`
    return [finding(invalidDomain, { domain: name, why }, { where })]
  }
  if (labels.length < 2) return [finding(invalidDomain, { domain: name, why: 'it has one label only' }, { where })]
  return labels.at(-1) === 'local' ? [finding(localDomain, { domain: name }, { where })] : []
}
