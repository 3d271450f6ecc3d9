/** One cloud of a site file: the networks that it names exist, and each has addresses to give. */

import { closestMatch } from '../errors/closest-match.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Locator } from '../yaml/locate.ts'
import { toList } from './defaults.ts'
import { familyWithoutSupernet, networkWithoutSubnets, unknownReference } from './findings.ts'
import { type Cloud, type CloudNetwork, type Path, type Site, settingPath } from './site.ts'

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
