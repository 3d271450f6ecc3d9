/**
 * Checks what the schema of a site file cannot: names, references, contradictions.
 *
 * Pure. Addresses are checked by the planner.
 */
import type { SiteFile, SiteFileNetwork } from '../api/site.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { codes } from '../errors/codes.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { parsePrefixed } from '../net/cidr.ts'
import type { Locator } from '../yaml/locate.ts'
import { withoutDuplicates } from './accept.ts'
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
  hostsOnlyNetwork,
  networkWithoutSubnets,
  nodeWithoutNic,
  subnetTooLarge,
  unknownReference,
  unlikelyNetworkName,
} from './findings.ts'
import { networkTemplates } from './network-templates.ts'
import { allocatorRoles, type Cloud, type CloudNetwork, type Path, type Site, settingPath } from './site.ts'

export function checkSite(file: SiteFile, site: Site, places: Locator): readonly Finding[] {
  return [
    ...checkNames(site, places),
    ...checkNodes(file, site, places),
    ...checkMetalLb(file, site, places),
    ...checkAddressing(file, places),
    ...checkNetworkNames(file, places),
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
  for (const [role, setting] of Object.entries(layout ?? {})) {
    toList(setting ?? []).forEach((text, index) => {
      if (isOffsets(text)) return
      const path = ['spec', 'addressing', 'layout', role]
      const where = locate(typeof setting === 'string' ? path : [...path, index])
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

/** A name in the file, and where. */
interface Named {
  readonly name: string
  readonly path: Path
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Names of hosts and nodes may include a domain. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Names fit Kubernetes and DNS, and are unique. */
function checkNames(site: Site, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []

  const checkForm = (what: string, rule: RegExp, { name, path }: Named): void => {
    if (rule.test(name) && name.length <= 253) return
    findings.push(finding(badName, { what, name }, { where: locate(path) }))
  }

  const checkUnique = (what: string, all: readonly Named[]): void => {
    const pathByName = new Map<string, Path>()
    for (const { name, path } of all) {
      const earlier = pathByName.get(name)
      if (!earlier) {
        pathByName.set(name, path)
        continue
      }
      const { file, line, column } = locate(earlier)
      const facts = { what, name, first: `${file}:${line}:${column}` }
      findings.push(finding(duplicateName, facts, { where: locate(path) }))
    }
  }

  const named = (items: readonly { readonly name: string }[], base: Path): readonly Named[] =>
    items.map(({ name }, index) => ({ name, path: [...base, index, 'name'] }))

  checkForm('site', LABEL, { name: site.name, path: ['metadata', 'name'] })
  const nodes = named(site.cluster.nodes, ['spec', 'cluster', 'nodes'])
  for (const node of nodes) checkForm('node', DOMAIN, node)
  checkUnique('node', nodes)
  checkUnique('bond', named(site.cluster.bonds, ['spec', 'cluster', 'bonds']))

  const clouds = named(site.clouds, ['spec', 'clouds'])
  for (const cloud of clouds) checkForm('cloud', LABEL, cloud)
  checkUnique('cloud', clouds)
  for (const cloud of site.clouds) {
    const hosts = named(cloud.file.hosts ?? [], [...cloud.path, 'hosts'])
    for (const host of hosts) checkForm('host', DOMAIN, host)
    checkUnique('host', hosts)
    const nodeSets = named(cloud.file.nodeSets ?? [], [...cloud.path, 'nodeSets'])
    for (const nodeSet of nodeSets) checkForm('node set', LABEL, nodeSet)
    checkUnique('node set', nodeSets)
    for (const network of cloud.networks) {
      const path = network.layers.findLast((layer) => layer.path)?.path
      if (!path) continue
      checkForm('network', LABEL, { name: network.name, path })
      const source = network.layers.findLast((layer) => layer.settings.endpoints)
      if (source?.path) {
        checkUnique('endpoint', named(source.settings.endpoints ?? [], [...source.path, 'endpoints']))
      }
    }
  }
  return withoutDuplicates(findings)
}

/** Every node has a main NIC, and BGP peers name nodes that exist. */
function checkNodes(file: SiteFile, site: Site, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []
  file.spec.cluster.nodes.forEach(({ name, nic, nics }, index) => {
    const where = locate(['spec', 'cluster', 'nodes', index])
    const main = nics?.['main']
    if (nic !== undefined && main !== undefined && nic !== main) {
      findings.push(finding(conflictingNics, { node: name, short: nic, long: main }, { where }))
    }
    if (nic === undefined && main === undefined) findings.push(finding(nodeWithoutNic, { node: name }, { where }))
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

/** The networks that a cloud names exist, and each has a source of addresses. */
function checkCloud(cloud: Cloud, site: Site, places: Locator): readonly Finding[] {
  return [
    ...checkReferences(cloud, places),
    ...cloud.networks.flatMap((network) => [
      ...checkSource(network, site, places),
      ...checkNodeReferences(network, site, places),
      ...checkHostsOnly(network, cloud, places),
      ...checkSubnetSizes(network, places),
    ]),
  ]
}

/** Every place where a cloud names one of its networks. */
function networkReferences({ file, path }: Cloud): readonly Named[] {
  const inList = (names: readonly string[] | undefined, base: Path): readonly Named[] =>
    (names ?? []).map((name, index) => ({ name, path: [...base, index] }))
  const services = Object.entries(file.services ?? {}).flatMap(([service, settings]) => {
    if (typeof settings === 'boolean') return []
    const base = [...path, 'services', service]
    const network = settings.network === undefined ? [] : [{ name: settings.network, path: [...base, 'network'] }]
    return [...network, ...inList(settings.networkAttachments, [...base, 'networkAttachments'])]
  })
  const hosts = (file.hosts ?? []).flatMap((host, index) => {
    const base = [...path, 'hosts', index]
    const pinned = Object.keys(host.addresses ?? {})
    return [
      ...inList(host.networks, [...base, 'networks']),
      ...pinned.map((name) => ({ name, path: [...base, 'addresses', name] })),
    ]
  })
  const nodeSets = (file.nodeSets ?? []).flatMap(({ networks }, index) =>
    inList(networks, [...path, 'nodeSets', index, 'networks']),
  )
  const publicNetwork = file.public?.network
  const references = [...services, ...hosts, ...nodeSets]
  if (publicNetwork === undefined) return references
  return [...references, { name: publicNetwork, path: [...path, 'public', 'network'] }]
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
  const roles = settings.roles ?? allocatorRoles
  if (roles.length === 0) return []
  const sources = [
    ...(settings.subnets ?? []).map((subnet) => subnet.cidr),
    ...(settings.supernets ?? []).flatMap(toList),
  ]
  const where = locate(network.layers.findLast((layer) => layer.path)?.path ?? [])
  if (sources.length === 0) {
    const nearest = closestNetwork(name, Object.keys(networkTemplates))
    return [finding(networkWithoutSubnets, { network: name, roles, nearest }, { where })]
  }
  return addressing.families
    .filter((family) => !sources.some((source) => source.includes(':') === (family === 6)))
    .map((family) => finding(familyWithoutSupernet, { network: name, family }, { where }))
}

/** The prefix lengths that `addressing.prefixLength` allows at least. */
const LEAST_PREFIX = { 4: 8, 6: 16 }

/** One subnet that holds all others would be reported with each of them. */
function checkSubnetSizes(network: CloudNetwork, { locate }: Locator): readonly Finding[] {
  return (network.settings.subnets ?? []).flatMap(({ cidr: text }, index) => {
    const cidr = parsePrefixed(text)
    if (!cidr) return []
    const least = LEAST_PREFIX[cidr.address.family]
    if (cidr.prefix >= least) return []
    const where = locate(settingPath(network, 'subnets', index, 'cidr') ?? [])
    return [finding(subnetTooLarge, { cidr: text, network: network.name, least }, { where })]
  })
}

/** A network without a NIC has no role on the nodes of the cluster. */
function checkHostsOnly(network: CloudNetwork, cloud: Cloud, { locate }: Locator): readonly Finding[] {
  const { nic, attach = 'macvlan', roles = allocatorRoles, subnets = [], nodes = {} } = network.settings
  if (nic !== false) return []
  const used = new Set<string>([...roles, ...subnets.flatMap(({ spans }) => Object.keys(spans ?? {}))])
  if (Object.keys(nodes).length > 0) used.add('nodes')
  used.delete('hosts')
  if (used.size === 0 && attach === 'none') return []
  const needs = [...(attach === 'none' ? [] : [`attach: ${attach}`]), ...used]
  const where = locate(settingPath(network, 'nic') ?? [])
  return [finding(hostsOnlyNetwork, { cloud: cloud.name, network: network.name, needs }, { where })]
}

/** A misspelt network is a new one: what was meant for the other is lost without an error. */
function checkNetworkNames({ spec }: SiteFile, { locateKey }: Locator): readonly Finding[] {
  const builtIn = Object.keys(networkTemplates)
  const templates = Object.keys(spec.networks ?? {})
  const mappings = [
    { networks: spec.networks ?? {}, path: ['spec', 'networks'], known: builtIn },
    ...spec.clouds.map(({ networks = {} }, index) => ({
      networks,
      path: ['spec', 'clouds', index, 'networks'],
      known: [...new Set([...builtIn, ...templates])],
    })),
  ]
  return mappings.flatMap(({ networks, path, known }) =>
    Object.entries(networks).flatMap(([network, settings]) => {
      if (known.includes(network)) return []
      const nearest = closestNetwork(network, known)
      const off = settings === false
      const isAdded = nearest === undefined || nearest in networks || !hasSource(settings)
      if (!off && isAdded) return []
      return [finding(unlikelyNetworkName, { network, nearest, off }, { where: locateKey([...path, network]) })]
    }),
  )
}

/** A network without a source of addresses is reported as such. */
function hasSource(settings: SiteFileNetwork | false): boolean {
  return settings !== false && (settings.subnets ?? settings.supernets ?? []).length > 0
}

/** `tenant2` and `tenant-b` are no misspelt `tenant`. */
function closestNetwork(name: string, known: readonly string[]): string | undefined {
  const nearest = closestMatch(name, known)
  const isDerived = nearest !== undefined && (/\d/.test(name) || name.includes('-'))
  return isDerived ? undefined : nearest
}

/** The NIC of a network exists on every node; pinned node addresses belong to nodes that exist. */
function checkNodeReferences(network: CloudNetwork, { cluster }: Site, { locate }: Locator): readonly Finding[] {
  const findings: Finding[] = []
  const { nic } = network.settings
  const nodeWithout = nic === undefined || nic === false ? undefined : cluster.nodes.find((node) => !(nic in node.nics))
  if (nic && nodeWithout) {
    const known = Object.keys(nodeWithout.nics)
    const within = `the node ${nodeWithout.name}`
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
