/** Reads a fleet file and checks it. Pure: whether the files of its sites exist is found when they are read. */
import path from 'node:path'
import { groupBy } from '../api/collections.ts'
import { type FleetSite, fleetSchema } from '../api/fleet.ts'
import { checkShape } from '../api/shape.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { readYaml } from '../yaml/read.ts'
import { duplicateSite, sameCluster } from './findings.ts'

export interface Fleet {
  readonly name: string
  /** In the order of the file; paths are relative to the same folder as the path of the fleet file. */
  readonly sites: readonly FleetSite[]
  /** In Go's notation. */
  readonly pause: string
}

export interface FleetReading {
  /** Absent when the file does not have the shape of a Fleet. */
  readonly fleet?: Fleet
  readonly findings: readonly Finding[]
}

export function readFleet(input: string | Uint8Array, file: string): FleetReading {
  const reading = readYaml(input, file)
  const { value, findings } = checkShape(fleetSchema, reading, 'a Fleet')
  if (!value) return { findings }
  const { sites, update } = value.spec
  const locateSite = (index: number) => reading.locate(['spec', 'sites', index])
  const numbered = sites.map((site, index) => ({ site, index }))
  const found = [
    ...repeated(groupBy(numbered, ({ site }) => site.name)).map(([name, [, second]]) =>
      finding(duplicateSite, { name }, { where: locateSite(second.index) }),
    ),
    ...repeated(groupBy(numbered, ({ site }) => describeCluster(site))).map(([cluster, [first, second]]) => {
      const names = [first.site.name, second.site.name]
      return finding(sameCluster, { sites: names, cluster }, { where: locateSite(second.index) })
    }),
  ]
  const folder = path.dirname(file)
  const fleet = {
    name: value.metadata.name,
    sites: sites.map((site) => withPathsFrom(folder, site)),
    pause: update?.pause ?? '0s',
  }
  return { fleet, findings: [...findings, ...found] }
}

type Repeated<T> = readonly [string, readonly [T, T, ...(readonly T[])]]

function repeated<T>(groups: ReadonlyMap<string, readonly T[]>): readonly Repeated<T>[] {
  return [...groups].flatMap(([key, [first, second, ...rest]]) =>
    first && second ? [[key, [first, second, ...rest]] as const] : [],
  )
}

function describeCluster({ kubeconfig, context }: FleetSite): string {
  return `${context === undefined ? 'the current context' : `context ${context}`} of ${kubeconfig ?? 'the default kubeconfig'}`
}

function withPathsFrom(folder: string, site: FleetSite): FleetSite {
  const { file, lock, kubeconfig } = site
  const resolve = (name: string): string => (path.isAbsolute(name) ? name : path.join(folder, name))
  return {
    ...site,
    file: resolve(file),
    ...(lock !== undefined && { lock: resolve(lock) }),
    ...(kubeconfig !== undefined && { kubeconfig: resolve(kubeconfig) }),
  }
}
