/** What a move to own pools would do, before consent; and what it took, afterwards. */
import type { KubeObject } from '../../api/object.ts'
import { type Adoption, isInterrupted, type NetworkMove } from '../../deploy/adopt/adoption.ts'
import { isEmpty } from '../../deploy/adopt/wishes.ts'
import { formatTable } from '../output/table.ts'

export function formatAdoption(adoption: Adoption, columns: number): string {
  const { cloud, namespace, controlPlane, networks, oldAdvertisements, missing } = adoption
  const name = controlPlane ? `control plane ${controlPlane.metadata.name}\n` : ''
  const head = `${cloud} in namespace ${namespace}\n${name}\n`
  const table = formatTable(['NETWORK', 'GAP', 'POOL'], networks.flatMap(networkRows), columns)
  const slots = formatTable(['CHANGE', 'SERVICE', 'SLOT'], slotRows(adoption), columns)
  const gone = oldAdvertisements.map(({ kind, metadata }) => `  - ${kind} ${metadata.name}\n`).join('')
  const put = missing.map(({ kind, metadata }) => `  + ${kind} ${metadata.name}\n`).join('')
  return `${head}${table}\n${slots}${put && `\nput in beside the pools:\n${put}`}${
    gone && `\nremoved with their pools:\n${gone}`
  }
MetalLB refuses two pools with one range, so a network's addresses do not
answer from the end of its old pool until MetalLB has given them out of the new
one: the time of some requests, a second or a few.\n\n`
}

/** The gap before the long names: on a narrow terminal it is not what is cut off. */
function networkRows(move: NetworkMove): readonly (readonly string[])[] {
  const kept = keptAddresses(move)
  return [
    [move.network, formatGap(move), formatPools(move)],
    ...(kept.length > 0 ? [['', '', `keeps ${kept.join(' ')}`]] : []),
  ]
}

function formatPools({ old, pool, kind }: NetworkMove): string {
  const before = old
    .map((oldPool) => oldPool.pool.metadata.name + (oldPool.keeps.length > 0 ? ' (in part)' : ''))
    .join(', ')
  if (kind === 'as planned') return `${pool.metadata.name}, as planned`
  return before === '' ? `${pool.metadata.name}, ${kind}` : `${before} -> ${pool.metadata.name}`
}

function keptAddresses({ services }: NetworkMove): readonly string[] {
  return [...new Set(services.flatMap(({ addresses }) => addresses))]
}

function formatGap(move: NetworkMove): string {
  return isInterrupted(move) ? `${move.services.length} Services, seconds` : 'none'
}

function slotRows({ networks }: Adoption): readonly (readonly string[])[] {
  return networks.flatMap(({ slots, services }) => [
    ...slots.map(({ name, service, lacks }) => [formatChange(lacks), service ?? '(none)', name]),
    ...services
      .filter(({ slot }) => slot === undefined)
      .map(({ name, lacks }) => [formatChange(lacks), name, '(none)']),
  ])
}

function formatChange(lacks: Readonly<Record<string, string>>): string {
  return isEmpty(lacks) ? 'as planned' : `${Object.keys(lacks).length} annotations`
}

export function formatGaps(gaps: ReadonlyMap<string, number>): string {
  return [...gaps].map(([network, ms]) => `${network}: without its addresses for ${ms} ms at most\n`).join('')
}

/** The same for programs. */
export function adoptionJson(adoption: Adoption, gaps: ReadonlyMap<string, number> = new Map()): object {
  const { cloud, namespace, controlPlane, networks, oldAdvertisements, missing, findings } = adoption
  const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`
  return {
    cloud,
    namespace,
    ...(controlPlane && { controlPlane: controlPlane.metadata.name }),
    networks: networks.map((network) => ({
      network: network.network,
      change: network.kind,
      pool: network.pool.metadata.name,
      from: network.old.map(({ pool }) => pool.metadata.name),
      interrupted: isInterrupted(network),
      ...(gaps.has(network.network) && { gapMs: gaps.get(network.network) }),
      services: network.services.map(({ name, addresses, slot }) => ({ name, addresses, ...(slot && { slot }) })),
      slots: network.slots.map(({ name, place, service, wants, lacks }) => ({
        name,
        path: `spec.${place.path.join('.')}`,
        ...(service && { service }),
        annotations: wants,
        changed: Object.keys(lacks),
      })),
    })),
    added: missing.map(nameOf),
    removed: oldAdvertisements.map(nameOf),
    findings,
  }
}
