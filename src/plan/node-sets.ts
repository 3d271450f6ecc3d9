/**
 * Groups the data plane hosts of a cloud into node sets, each with its cell and settings.
 *
 * Pure. A host that names no node set belongs to the one of its cell, `edpm-<cell>`, which need not be declared.
 */
import type { SiteFileHost, SiteFileNodeSet } from '../api/site.ts'
import type { Cloud, Path } from '../site/site.ts'
import { cellNames } from './slots/cloud-services.ts'

export interface HostNodeSet {
  readonly name: string
  readonly cell: string
  /** Empty for a node set that is not declared. */
  readonly settings: Partial<SiteFileNodeSet>
  readonly hosts: readonly SiteFileHost[]
}

/** The node sets that have hosts, in the order in which the hosts name them. */
export function hostNodeSets(cloud: Cloud): readonly HostNodeSet[] {
  const sets = new Map<
    string,
    { name: string; cell: string; settings: Partial<SiteFileNodeSet>; hosts: SiteFileHost[] }
  >()
  for (const host of cloud.file.hosts ?? []) {
    const name = hostNodeSet(cloud, host)
    const known = sets.get(name)
    if (known) known.hosts.push(host)
    else
      sets.set(name, { name, cell: hostCell(cloud, host), settings: declaredNodeSet(cloud, name) ?? {}, hosts: [host] })
  }
  return [...sets.values()]
}

/** The name of a host's node set. */
export function hostNodeSet(cloud: Cloud, host: SiteFileHost): string {
  return host.nodeSet ?? defaultNodeSet(hostCell(cloud, host))
}

function defaultNodeSet(cell: string): string {
  return `edpm-${cell}`
}

/** The cell of a host: its own, that of its node set, or the first one of the cloud. */
export function hostCell(cloud: Cloud, { cell, nodeSet }: Pick<SiteFileHost, 'cell' | 'nodeSet'>): string {
  return cell ?? declaredNodeSet(cloud, nodeSet)?.cell ?? cellNames(cloud)[0] ?? 'cell1'
}

/** The nova service of a node set: that of its cell, or its own where it has a configuration. */
export function novaServiceName({ name, cell, settings }: Omit<HostNodeSet, 'hosts'>): string {
  return settings.novaConfig === undefined ? `nova-${cell}` : `nova-of-${name}`
}

/** The networks that a host is on: its own list or its node set's. Undefined: every network that has a hosts span. */
export function hostNetworks(cloud: Cloud, host: SiteFileHost): readonly string[] | undefined {
  return host.networks ?? (cloud.file.nodeSets && declaredNodeSet(cloud, hostNodeSet(cloud, host))?.networks)
}

function declaredNodeSet({ file }: Cloud, name: string | undefined): SiteFileNodeSet | undefined {
  return file.nodeSets?.find((set) => set.name === name)
}

/** Whether a host may name this node set: it is declared, or the one of the host's cell. */
export function isKnownNodeSet(cloud: Cloud, host: SiteFileHost): boolean {
  return (
    host.nodeSet === undefined ||
    declaredNodeSet(cloud, host.nodeSet) !== undefined ||
    host.nodeSet === defaultNodeSet(hostCell(cloud, host))
  )
}

/** A cell that the site file names, and where. */
export interface NamedCell {
  readonly cell: string
  readonly path: Path
}

export function namedCells({ file, path }: Cloud): readonly NamedCell[] {
  const list = (key: 'hosts' | 'nodeSets'): readonly NamedCell[] =>
    (file[key] ?? []).flatMap(({ cell }, index) =>
      cell === undefined ? [] : [{ cell, path: [...path, key, index, 'cell'] }],
    )
  return [...list('hosts'), ...list('nodeSets')]
}
