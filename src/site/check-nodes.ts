/** The cluster's nodes: each has its main NIC, and whoever names a node or a NIC names one that exists. */
import type { SiteFile } from '../api/site.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Locator } from '../yaml/locate.ts'
import { conflictingNics, nodeWithoutNic, unknownReference } from './findings.ts'
import type { Site } from './site.ts'

export function checkNodes(file: SiteFile, site: Site, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []
  file.spec.cluster.nodes.forEach(({ name, nic, nics }, index) => {
    const where = locate(['spec', 'cluster', 'nodes', index])
    const long = nics?.['main']
    if (nic !== undefined && long !== undefined && nic !== long) {
      findings.push(finding(conflictingNics, { node: name, short: nic, long }, { where }))
    }
    if (nic === undefined && long === undefined) findings.push(finding(nodeWithoutNic, { node: name }, { where }))
  })
  const known = site.cluster.nodes.map((node) => node.name)
  for (const peer of site.cluster.metallb.peers) {
    peer.nodes.forEach((name, index) => {
      if (known.includes(name)) return
      const facts = { what: 'node', name, within: 'the cluster', nearest: closestMatch(name, known), known }
      findings.push(finding(unknownReference, facts, { where: locate([...peer.path, 'nodes', index]) }))
    })
  }
  return findings
}
