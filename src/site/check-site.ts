/** What a site file says that its shape allows and that still cannot be: names, references, contradictions. */
import { type SiteFile } from '../api/site.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { codes } from '../errors/codes.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { type Locator } from '../yaml/locate.ts'
import { toList } from './defaults.ts'
import {
  acceptUnknown,
  badLayout,
  badName,
  badVlanRange,
  bgpIncomplete,
  bgpUnused,
  conflictingNics,
  duplicateName,
  familyWithoutSupernet,
  networkWithoutSubnets,
  nodeWithoutNic,
  unknownReference,
} from './findings.ts'
import { type Cloud, type CloudNetwork, type Path, type Site, settingPath } from './site.ts'

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

// FOLDED src/site/check-names.ts
/** Names in a site file: fit for Kubernetes and DNS, and nobody's twice. */
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

// FOLDED src/site/check-nodes.ts
/** The cluster's nodes: each has its main NIC, and whoever names a node or a NIC names one that exists. */
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

// FOLDED src/site/check-cloud.ts
/** One cloud of a site file: the networks that it names exist, and each has addresses to give. */
export function checkCloud(cloud: Cloud, site: Site, places: Locator): readonly Finding[] {
  return [
    ...checkReferences(cloud, places),
    ...cloud.networks.flatMap((network) => [
      ...checkSource(network, site, places),
      ...checkNodeReferences(network, site, places),
    ]),
  ]
}

interface Reference {
  readonly name: string
  readonly path: Path
}

/** Every place where a cloud names one of its networks. */
function networkReferences({ file, path }: Cloud): readonly Reference[] {
  const inList = (names: readonly string[] | undefined, base: Path): readonly Reference[] =>
    (names ?? []).map((name, index) => ({ name, path: [...base, index] }))
  const services = Object.entries(file.services ?? {}).flatMap(([service, settings]) => {
    if (typeof settings === 'boolean') return []
    const base = [...path, 'services', service]
    const own = settings.network === undefined ? [] : [{ name: settings.network, path: [...base, 'network'] }]
    return [...own, ...inList(settings.networkAttachments, [...base, 'networkAttachments'])]
  })
  const hosts = (file.hosts ?? []).flatMap((host, index) => {
    const base = [...path, 'hosts', index]
    const pinned = Object.keys(host.addresses ?? {})
    return [
      ...inList(host.networks, [...base, 'networks']),
      ...pinned.map((name) => ({ name, path: [...base, 'addresses', name] })),
    ]
  })
  const open = file.public?.network
  return [...services, ...hosts, ...(open === undefined ? [] : [{ name: open, path: [...path, 'public', 'network'] }])]
}

function checkReferences(cloud: Cloud, { locate }: Locator): readonly Finding[] {
  const known = cloud.networks.map((network) => network.name)
  return networkReferences(cloud)
    .filter(({ name }) => !known.includes(name))
    .map(({ name, path }) => {
      const within = `the cloud ${cloud.name}`
      const facts = { what: 'network', name, within, nearest: closestMatch(name, known), known }
      return finding(unknownReference, facts, { where: locate(path) })
    })
}

function checkSource(network: CloudNetwork, { addressing }: Site, { locate }: Locator): readonly Finding[] {
  const { name, settings } = network
  const roles = settings.roles ?? ['nodes', 'pods', 'hosts']
  if (roles.length === 0) return []
  const sources = [
    ...(settings.subnets ?? []).map((subnet) => subnet.cidr),
    ...(settings.supernets ?? []).flatMap(toList),
  ]
  const where = locate(network.layers.findLast((layer) => layer.path)?.path ?? [])
  if (sources.length === 0) return [finding(networkWithoutSubnets, { network: name, roles }, { where })]
  return addressing.families
    .filter((family) => !sources.some((source) => source.includes(':') === (family === 6)))
    .map((family) => finding(familyWithoutSupernet, { network: name, family }, { where }))
}

/** A NIC that a network rides on exists on every node; pinned addresses are those of nodes that exist. */
function checkNodeReferences(network: CloudNetwork, { cluster }: Site, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []
  const nic = network.settings.nic
  const without = nic === undefined ? undefined : cluster.nodes.find((node) => !(nic in node.nics))
  if (nic !== undefined && without) {
    const known = Object.keys(without.nics)
    const within = `the node ${without.name}`
    const facts = { what: 'NIC', name: nic, within, nearest: closestMatch(nic, known), known }
    findings.push(finding(unknownReference, facts, { where: locate(settingPath(network, 'nic') ?? []) }))
  }
  const known = cluster.nodes.map((node) => node.name)
  for (const name of Object.keys(network.settings.nodes ?? {})) {
    if (known.includes(name)) continue
    const facts = { what: 'node', name, within: 'the cluster', nearest: closestMatch(name, known), known }
    findings.push(finding(unknownReference, facts, { where: locate(settingPath(network, 'nodes', name) ?? []) }))
  }
  return findings
}
