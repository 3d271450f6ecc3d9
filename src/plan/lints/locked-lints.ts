/**
 * Lints settings that only say how the planner chooses: what is locked was chosen already, and keeps another value.
 *
 * Pure. Pins are not of this kind: the draft has them, or the plan says what would move.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { cidrRange, formatCidr } from '../../net/cidr.ts'
import { compareRanges, formatRange, type Range, rangeCovers } from '../../net/range.ts'
import type { Path, Site } from '../../site/site.ts'
import { settingPath } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import type { DraftNetwork } from '../draft/draft.ts'
import { type Layout, layoutSpans } from '../draft/layout.ts'
import { settingWithoutEffect } from '../findings/lock.ts'
import { type Lock, lockedNetwork } from '../lock.ts'
import { roles } from '../requests.ts'

interface LockedInput {
  readonly site: Site
  readonly networks: readonly DraftNetwork[]
  readonly lock: Lock
  readonly layout: Layout
  readonly locate: Locate
}

/** A value of a network that differs from the setting. */
interface Kept {
  readonly setting: string
  readonly value: string
  readonly kept: string
  readonly path: Path
}

/** One finding per setting, with the first network that it has no effect on. */
export function lintLocked(input: LockedInput): readonly Finding[] {
  const { networks, lock, locate } = input
  const bySetting = new Map<string, Kept[]>()
  for (const draft of networks) {
    const { cloud, network } = draft.request
    if (!lockedNetwork(lock, cloud.name, network.name)) continue
    for (const kept of [
      ...tagSettings(draft, input),
      ...bridgeSetting(draft, input),
      ...subnetSettings(draft, input),
    ]) {
      const all = bySetting.get(kept.setting)
      if (all) all.push(kept)
      else bySetting.set(kept.setting, [kept])
    }
  }
  return [...bySetting.values()].flatMap(([first, ...more]) => {
    if (!first) return []
    const { setting, value, kept, path } = first
    return [finding(settingWithoutEffect, { setting, value, kept, more: more.length }, { where: locate(path) })]
  })
}

function tagSettings({ request, placement }: DraftNetwork, { site, networks }: LockedInput): readonly Kept[] {
  const { owner, network } = request
  const { vlans, isolation } = site.addressing
  const { vlan, segment } = placement ?? {}
  if (segment === undefined || request.tag !== undefined) return []
  const found: Kept[] = []
  if (vlan !== undefined && (vlan < vlans.first || vlan > vlans.last)) {
    found.push({
      setting: 'spec.addressing.vlans',
      value: `${vlans.first} to ${vlans.last}`,
      kept: `${owner} has VLAN ${vlan}`,
      path: ['spec', 'addressing', 'vlans'],
    })
  }
  const other = networks.find(({ request: { network: candidate } }) => candidate.name === network.name)
  const shared = other?.placement?.segment
  if (isolation === 'shared-vlan' && shared !== undefined && shared !== segment) {
    found.push({
      setting: 'spec.addressing.isolation',
      value: isolation,
      kept: `${owner} has ${vlan === undefined ? 'the untagged network' : `VLAN ${vlan}`} for itself`,
      path: ['spec', 'addressing', 'isolation'],
    })
  }
  return found
}

/** A name in a template is for one segment, so that other segments have names of their own. */
function bridgeSetting({ request, placement }: DraftNetwork, { networks }: LockedInput): readonly Kept[] {
  const { network, owner } = request
  const { bridge } = network.settings
  const path = settingPath(network, 'bridge')
  if (typeof bridge !== 'string' || !path || !placement) return []
  if (networks.some((draft) => draft.request.network.name === network.name && draft.placement?.bridge === bridge)) {
    return []
  }
  const kept = `${owner} has ${placement.bridge === undefined ? 'no bridge' : `the bridge ${placement.bridge}`}`
  return [{ setting: path.join('.'), value: bridge, kept, path }]
}

function subnetSettings(draft: DraftNetwork, { site, layout }: LockedInput): readonly Kept[] {
  const { request } = draft
  const { owner, network, supernets } = request
  if (request.subnets) return []
  const found: Kept[] = []
  for (const { cidr, spans } of draft.subnets) {
    const size = site.addressing.prefixLength[cidr.family]
    const family = `ipv${cidr.family}`
    if (cidr.prefix !== size) {
      const path = ['spec', 'addressing', 'prefixLength', family]
      found.push({ setting: path.join('.'), value: String(size), kept: `${owner} has ${formatCidr(cidr)}`, path })
    }
    const source = supernets.filter((supernet) => supernet.family === cidr.family)
    const path = settingPath(network, 'supernets')
    if (path && source.length > 0 && !source.some((supernet) => rangeCovers(supernet, cidrRange(cidr)))) {
      const value = source.map(formatRange).join(', ')
      found.push({ setting: path.join('.'), value, kept: `${owner} has ${formatCidr(cidr)}`, path })
    }
    const standard = layoutSpans(cidr, layout, request.roles)
    for (const role of roles) {
      if (sameRanges(spans[role], standard[role])) continue
      const rolePath = ['spec', 'addressing', 'layout', role]
      const value = site.addressing.layout[role].join(', ')
      found.push({
        setting: rolePath.join('.'),
        value,
        kept: `${role} of ${owner} are ${formatRanges(spans[role])}`,
        path: rolePath,
      })
    }
  }
  return found
}

function sameRanges(some: readonly Range[] = [], others: readonly Range[] = []): boolean {
  return (
    some.length === others.length && some.every((range, index) => compareRanges(range, others[index] as Range) === 0)
  )
}

function formatRanges(ranges: readonly Range[] = []): string {
  return ranges.map(formatRange).join(', ') || 'none'
}
