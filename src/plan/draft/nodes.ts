/**
 * The address of each node on one network.
 *
 * Pure. Two clouds that share a subnet and its nodes span share the nodes' addresses too: a node has one there.
 */

import { finding } from '../../errors/finding.ts'
import { formatRange } from '../../net/range.ts'
import type { Path } from '../../site/site.ts'
import { tooFewNodeAddresses } from '../findings/capacity.ts'
import { settingPathOrCloud } from '../requests.ts'
import { type AddressGrants, capacity } from './addresses.ts'
import { assignInFamily, type FamilyInput, type Given, pinsOf, reportTroubles, textsOf } from './one-family.ts'

export function nodesOf(part: FamilyInput, locked: ReadonlyMap<string, bigint>): Given {
  const { input, subnets } = part
  const { site, wish, placement, locate } = input
  const spans = subnets.flatMap((subnet) => subnet.spans.nodes ?? [])
  const at = (name: string): Path => settingPathOrCloud(wish, 'nodes', name)
  const pinned = [...wish.nodes].map(([name, addresses]) => ({ name, addresses }))
  const pins = pinsOf(part, pinned, 'node', at)
  const all = site.cluster.nodes.map(({ name }) => name)
  const names = spans.length > 0 ? all : all.filter((name) => pins.has(name))
  // On one segment and one span a node has one address, whichever cloud asks.
  const key = [placement?.segment, ...spans.map(formatRange)].join(' ')
  const together = spans.length > 0 ? input.sharedNodes.get(key) : undefined
  const asked = { spans, names, pins: together ? new Map([...together, ...pins]) : pins, locked }
  const result = assignInFamily(part, 'nodes', asked)
  if (!together) input.sharedNodes.set(key, shareable(names, result))
  reportTroubles(part, 'node', result, at)
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? settingPathOrCloud(wish, 'subnets'))
    part.findings.push(finding(tooFewNodeAddresses, facts, { where }))
  }
  return { names, texts: textsOf(part, result) }
}

function shareable(names: readonly string[], { given }: AddressGrants): ReadonlyMap<string, bigint> {
  const shared = new Map<string, bigint>()
  names.forEach((name, at) => {
    const value = given[at]
    if (value !== undefined) shared.set(name, value)
  })
  return shared
}
