/** What a site file says that its shape allows and that still cannot be: names, references, contradictions. */
import type { SiteFile } from '../api/site.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { codes } from '../errors/codes.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Locator } from '../yaml/locate.ts'
import { checkCloud } from './check-cloud.ts'
import { checkNames } from './check-names.ts'
import { checkNodes } from './check-nodes.ts'
import { toList } from './defaults.ts'
import { acceptUnknown, badLayout, badVlanRange, bgpIncomplete, bgpUnused } from './findings.ts'
import type { Site } from './site.ts'

export function checkSite(file: SiteFile, site: Site, places: Locator): readonly Finding[] {
  return [
    ...checkNames(site, places),
    ...checkNodes(file, site, places),
    ...checkMetalLb(file, site, places),
    ...checkAddressing(file, places),
    ...site.clouds.flatMap((cloud) => checkCloud(cloud, site, places)),
    ...checkAccept(site, places),
  ]
}

function checkMetalLb({ spec }: SiteFile, { cluster }: Site, { locate }: Locator): readonly Finding[] {
  const { mode, asn, peers } = cluster.metallb
  const where = locate(['spec', 'cluster', 'metallb', 'mode'])
  if (mode === 'bgp') {
    if (asn === undefined) return [finding(bgpIncomplete, { missing: 'asn' }, { where })]
    return peers.length === 0 ? [finding(bgpIncomplete, { missing: 'peers' }, { where })] : []
  }
  if (asn === undefined && peers.length === 0) return []
  const key = spec.cluster.metallb?.peers ? 'peers' : 'asn'
  return [finding(bgpUnused, {}, { where: locate(['spec', 'cluster', 'metallb', key]) })]
}

function checkAddressing({ spec }: SiteFile, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []
  const { vlans, layout } = spec.addressing ?? {}
  if (vlans && (vlans.first < 1 || vlans.last > 4094 || vlans.first > vlans.last)) {
    findings.push(finding(badVlanRange, vlans, { where: locate(['spec', 'addressing', 'vlans']) }))
  }
  for (const [role, written] of Object.entries(layout ?? {})) {
    toList(written ?? []).forEach((text, index) => {
      if (isOffsets(text)) return
      const place = ['spec', 'addressing', 'layout', role]
      const where = locate(typeof written === 'string' ? place : [...place, index])
      findings.push(finding(badLayout, { role, text }, { where }))
    })
  }
  return findings
}

function isOffsets(text: string): boolean {
  const [, first, last] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? []
  return first !== undefined && Number(first) <= Number(last ?? first)
}

function checkAccept({ accept }: Site, { locate }: Locator): readonly Finding[] {
  return accept
    .filter(({ code }) => !codes.has(code))
    .map(({ code, path }) => {
      const facts = { code, nearest: closestMatch(code, [...codes]) }
      return finding(acceptUnknown, facts, { where: locate([...path, 'code']) })
    })
}
