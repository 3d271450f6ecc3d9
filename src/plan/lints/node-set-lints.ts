/**
 * Lints the node sets of a cloud: their cells, their hosts, and how the hosts are provisioned.
 *
 * Pure. Names and networks of node sets are checked when the file is read.
 */
import type { SiteFileHost, SiteFileNodeSet } from '../../api/site.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { unknownReference } from '../../site/findings.ts'
import type { Cloud, Path } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import {
  hostWithoutNodeSet,
  nodeSetCells,
  nodeSetWithoutHosts,
  novaConfigUnused,
  provisionedTwice,
} from '../findings/site.ts'
import {
  type HostNodeSet,
  hostCell,
  hostNodeSet,
  hostNodeSets,
  isKnownNodeSet,
  namedCells,
  novaServiceName,
} from '../node-sets.ts'
import { hostCells } from '../slots/cloud-services.ts'

export function lintNodeSets(cloud: Cloud, locate: Locate): readonly Finding[] {
  const cells = lintCells(cloud, locate)
  const { nodeSets, hosts = [] } = cloud.file
  if (!nodeSets && hosts.every(({ nodeSet }) => nodeSet === undefined)) return cells
  return [
    ...cells,
    ...hosts.flatMap((host, index) => lintHost(cloud, host, index, locate)),
    ...lintDeclared(cloud, locate),
  ]
}

/** A host of a cell that the control plane does not have waits for a Secret that is never created. */
function lintCells(cloud: Cloud, locate: Locate): readonly Finding[] {
  const known = hostCells(cloud)
  return namedCells(cloud)
    .filter(({ cell }) => !known.includes(cell))
    .map(({ cell, path }) => {
      const nearest = closestMatch(cell, known)
      const facts = { what: 'nova cell for hosts', name: cell, within: `the cloud ${cloud.name}`, nearest, known }
      return finding(unknownReference, facts, { where: locate(path) })
    })
}

function lintHost(cloud: Cloud, host: SiteFileHost, index: number, locate: Locate): readonly Finding[] {
  const declared = (cloud.file.nodeSets ?? []).map(({ name }) => name)
  const path = [...cloud.path, 'hosts', index]
  if (!isKnownNodeSet(cloud, host)) {
    const { nodeSet: name = '' } = host
    const nearest = closestMatch(name, declared)
    const facts = { what: 'node set', name, within: `the cloud ${cloud.name}`, nearest, known: declared }
    return [finding(unknownReference, facts, { where: locate([...path, 'nodeSet']) })]
  }
  const nodeSet = hostNodeSet(cloud, host)
  if (host.nodeSet !== undefined || declared.length === 0 || declared.includes(nodeSet)) return []
  return [
    finding(hostWithoutNodeSet, { cloud: cloud.name, host: host.name, nodeSet, declared }, { where: locate(path) }),
  ]
}

function lintDeclared(cloud: Cloud, locate: Locate): readonly Finding[] {
  const sets = hostNodeSets(cloud)
  const different = sets.flatMap((set) => lintCellsOfSet(cloud, set, locate))
  const declared = (cloud.file.nodeSets ?? []).flatMap((nodeSet, index) => {
    const { name, baremetalSetTemplate, preProvisioned } = nodeSet
    const facts = { cloud: cloud.name, nodeSet: name }
    const path = [...cloud.path, 'nodeSets', index]
    return [
      ...(sets.some((set) => set.name === name)
        ? []
        : [finding(nodeSetWithoutHosts, facts, { where: locate([...path, 'name']) })]),
      ...(baremetalSetTemplate && preProvisioned === true
        ? [finding(provisionedTwice, facts, { where: locate([...path, 'baremetalSetTemplate']) })]
        : []),
      ...lintNovaConfig(cloud, nodeSet, [...path, 'novaConfig'], locate),
    ]
  })
  return [...different, ...declared]
}

function lintNovaConfig(cloud: Cloud, nodeSet: SiteFileNodeSet, path: Path, locate: Locate): readonly Finding[] {
  const { name, role, novaConfig } = nodeSet
  if (novaConfig === undefined) return []
  const service = novaServiceName({ name, cell: '', settings: nodeSet })
  const services = nodeSet.services ?? (role ? undefined : cloud.file.dataPlane?.services)
  if (services ? services.includes(service) : role !== 'networker') return []
  return [finding(novaConfigUnused, { cloud: cloud.name, nodeSet: name, service }, { where: locate(path) })]
}

/** nova-compute of a host talks to the message bus of its cell, which the nova service of the set configures. */
function lintCellsOfSet(cloud: Cloud, set: HostNodeSet, locate: Locate): readonly Finding[] {
  const { name: nodeSet, settings, hosts } = set
  const cell = settings.cell ?? set.cell
  const report = (what: string, other: string, path: Path): Finding =>
    finding(
      nodeSetCells,
      { cloud: cloud.name, nodeSet, cell, what, other },
      { where: locate([...cloud.path, ...path]) },
    )
  const declaredAt = cloud.file.nodeSets?.findIndex(({ name }) => name === nodeSet) ?? -1
  return [
    ...hosts
      .filter((host) => hostCell(cloud, host) !== cell)
      .map((host) =>
        report(host.name, hostCell(cloud, host), [
          'hosts',
          cloud.file.hosts?.findIndex((candidate) => candidate === host) ?? 0,
        ]),
      ),
    ...(settings.services ?? []).flatMap((service, index) => {
      const other = hostCells(cloud).find((candidate) => candidate !== cell && service === `nova-${candidate}`)
      return other === undefined ? [] : [report(service, other, ['nodeSets', declaredAt, 'services', index])]
    }),
  ]
}
