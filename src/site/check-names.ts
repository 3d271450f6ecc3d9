/** Names in a site file: fit for Kubernetes and DNS, and nobody's twice. */
import { type Finding, finding } from '../errors/finding.ts'
import type { Locator } from '../yaml/locate.ts'
import { badName, duplicateName } from './findings.ts'
import type { Path, Site } from './site.ts'

interface Named {
  readonly name: string
  readonly path: Path
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Hosts and nodes may bring their domain. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

export function checkNames(site: Site, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []

  const fit = (what: string, rule: RegExp, { name, path }: Named): void => {
    if (rule.test(name) && name.length <= 253) return
    findings.push(finding(badName, { what, name }, { where: locate(path) }))
  }

  const unique = (what: string, all: readonly Named[]): void => {
    const first = new Map<string, Path>()
    for (const { name, path } of all) {
      const earlier = first.get(name)
      if (!earlier) {
        first.set(name, path)
        continue
      }
      const place = locate(earlier)
      const facts = { what, name, first: `${place.file}:${place.line}:${place.column}` }
      findings.push(finding(duplicateName, facts, { where: locate(path) }))
    }
  }

  const named = (items: readonly { readonly name: string }[], base: Path): readonly Named[] =>
    items.map(({ name }, index) => ({ name, path: [...base, index, 'name'] }))

  fit('site', LABEL, { name: site.name, path: ['metadata', 'name'] })
  const nodes = named(site.cluster.nodes, ['spec', 'cluster', 'nodes'])
  for (const node of nodes) fit('node', DOMAIN, node)
  unique('node', nodes)
  unique('bond', named(site.cluster.bonds, ['spec', 'cluster', 'bonds']))

  const clouds = named(site.clouds, ['spec', 'clouds'])
  for (const cloud of clouds) fit('cloud', LABEL, cloud)
  unique('cloud', clouds)
  for (const cloud of site.clouds) {
    const hosts = named(cloud.file.hosts ?? [], [...cloud.path, 'hosts'])
    for (const host of hosts) fit('host', DOMAIN, host)
    unique('host', hosts)
    for (const network of cloud.networks) {
      const written = network.layers.findLast((layer) => layer.path)?.path
      if (!written) continue
      fit('network', LABEL, { name: network.name, path: written })
      const source = network.layers.findLast((layer) => layer.settings.endpoints)
      if (source?.path) {
        unique('endpoint', named(source.settings.endpoints ?? [], [...source.path, 'endpoints']))
      }
    }
  }
  return withoutDuplicates(findings)
}

/** A template is looked at once for each cloud; what is wrong with it is said once. */
export function withoutDuplicates(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Map(
    findings.map((finding) => [JSON.stringify([finding.code, finding.message, finding.where]), finding]),
  )
  return [...seen.values()]
}
