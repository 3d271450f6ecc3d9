/** Formats an adoption: what the move would do, before consent, and how long it took, afterwards. */
import type { KubeObject } from '../../api/object.ts'
import { type Adoption, isInterrupted, type NetworkMove } from '../../deploy/adopt/adoption.ts'
import { isEmpty } from '../../deploy/adopt/service-moves.ts'
import { formatTable } from '../output/table.ts'

export function formatAdoption(adoption: Adoption, columns: number, colour: boolean): string {
  const { cloud, namespace, controlPlane, networks, oldAdvertisements, missing } = adoption
  const name = controlPlane ? `control plane ${controlPlane.metadata.name}\n` : ''
  const header = `${cloud} in namespace ${namespace}\n${name}\n`
  const table = formatTable(['NETWORK', 'GAP', 'POOL'], networks.flatMap(networkRows), columns, colour)
  const slots = formatTable(['CHANGE', 'SERVICE', 'SLOT'], slotRows(adoption), columns, colour)
  const list = (sign: string, objects: readonly KubeObject[]): string =>
    objects.map((object) => `  ${sign} ${formatName(object)}\n`).join('')
  const added = missing.length > 0 ? `\nadded besides the pools:\n${list('+', missing)}` : ''
  const removed = oldAdvertisements.length > 0 ? `\nremoved with their pools:\n${list('-', oldAdvertisements)}` : ''
  return `${header}${table}\n${slots}${added}${removed}
MetalLB refuses two pools with one range, so the addresses of a network do not
answer from the deletion of its old pool until MetalLB has assigned them from
the new one: the time of some requests, a few seconds at most.\n\n`
}

/** The gap comes before the long names, so that a narrow terminal does not cut it off. */
function networkRows(move: NetworkMove): readonly (readonly string[])[] {
  const kept = [...new Set(move.services.flatMap(({ addresses }) => addresses))]
  return [
    [move.network, formatGap(move), formatPools(move)],
    ...(kept.length > 0 ? [['', '', `keeps ${kept.join(' ')}`]] : []),
  ]
}

function formatPools({ old, pool, kind }: NetworkMove): string {
  const { name } = pool.metadata
  if (kind === 'as planned') return `${name}, as planned`
  const before = old.map(
    ({ pool: oldPool, remaining }) => oldPool.metadata.name + (remaining.length > 0 ? ' (in part)' : ''),
  )
  return before.length === 0 ? `${name}, ${kind}` : `${before.join(', ')} -> ${name}`
}

function formatGap(move: NetworkMove): string {
  return isInterrupted(move) ? `${move.services.length} Services, seconds` : 'none'
}

function slotRows({ networks }: Adoption): readonly (readonly string[])[] {
  return networks.flatMap(({ slots, services }) => [
    ...slots.map(({ name, service, missing }) => [formatChange(missing), service ?? '(none)', name]),
    ...services
      .filter(({ slot }) => slot === undefined)
      .map(({ name, missing }) => [formatChange(missing), name, '(none)']),
  ])
}

function formatChange(missing: Readonly<Record<string, string>>): string {
  return isEmpty(missing) ? 'as planned' : `${Object.keys(missing).length} annotations`
}

export function formatGaps(gaps: ReadonlyMap<string, number>): string {
  return [...gaps].map(([network, ms]) => `${network}: without its addresses for ${ms} ms at most\n`).join('')
}

function formatName({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`
}

export function adoptionJson(adoption: Adoption, gaps: ReadonlyMap<string, number> = new Map()): object {
  const { cloud, namespace, controlPlane, networks, oldAdvertisements, missing, findings } = adoption
  return {
    cloud,
    namespace,
    ...(controlPlane && { controlPlane: controlPlane.metadata.name }),
    networks: networks.map((move) => ({
      network: move.network,
      change: move.kind,
      pool: move.pool.metadata.name,
      from: move.old.map(({ pool }) => pool.metadata.name),
      interrupted: isInterrupted(move),
      ...(gaps.has(move.network) && { gapMs: gaps.get(move.network) }),
      services: move.services.map(({ name, addresses, slot }) => ({ name, addresses, ...(slot && { slot }) })),
      slots: move.slots.map(({ name, liveSlot, service, requested, missing: changed }) => ({
        name,
        path: `spec.${liveSlot.path.join('.')}`,
        ...(service && { service }),
        annotations: requested,
        changed: Object.keys(changed),
      })),
    })),
    added: missing.map(formatName),
    removed: oldAdvertisements.map(formatName),
    findings,
  }
}
