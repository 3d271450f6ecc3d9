/**
 * Draws the address map as SVG: one line per subnet, spans by role, assigned addresses as ticks, conflicts in red.
 * Subnets of a cloud with the same layout have one bar; a scale stands above each bar whose scale differs.
 *
 * Pure. Every role has a colour of the Okabe-Ito palette, a pattern and its name, so that it is readable on a
 * black-and-white printer and with any colour blindness.
 */

import { groupBy } from '../api/collections.ts'
import { formatAddress, parseAddress } from '../net/address.ts'
import { type Cidr, cidrContains, cidrSize, parseCidr } from '../net/cidr.ts'
import { findOverlaps } from '../net/overlaps.ts'
import { intersection, parseRange, type Range } from '../net/range.ts'
import type { AllocatorRole } from '../site/site.ts'
import { segmentId } from './draft/draft.ts'
import type { Plan, PlannedCloud, PlannedNetwork, PlannedSubnet } from './plan.ts'

const WIDTH = 1200
const LABELS = 330
const BAR = WIDTH - LABELS - 20
const LINE = 15
const SCALE = 16
const HEAD = 74
const CHARACTER = 6.2

const roleStyles: Readonly<Record<AllocatorRole, { readonly colour: string; readonly pattern: string }>> = {
  nodes: { colour: '#0072B2', pattern: '' },
  pods: { colour: '#E69F00', pattern: '<path d="M0 8L8 0" stroke="#7a5400" stroke-width="1.2"/>' },
  vips: { colour: '#009E73', pattern: '<circle cx="4" cy="4" r="1.3" fill="#00402e"/>' },
  hosts: { colour: '#CC79A7', pattern: '<path d="M0 4H8" stroke="#6e2f53" stroke-width="1"/>' },
}
const CONFLICT = '#C00000'

interface Row {
  readonly cloud: PlannedCloud
  readonly network: PlannedNetwork
  readonly subnet: PlannedSubnet
  readonly cidr: Cidr
  readonly segment: string
  readonly spans: readonly RowSpan[]
}

interface RowSpan extends Range {
  readonly role: AllocatorRole
  readonly row: string
  readonly cidr: string
}

export function drawPlan(plan: Plan): string {
  const rows = rowsOf(plan)
  const conflicts = conflictsOf(rows)
  const byCloud = groupBy(rows, ({ cloud }) => cloud)
  const shown = extents(rows)
  let y = HEAD
  const parts: string[] = []
  for (const [cloud, cloudRows] of byCloud) {
    parts.push(text(16, y + 18, `${cloud.name} (namespace ${cloud.namespace})`, 'cloud'))
    y += 28
    let scale = ''
    for (const bar of foldEqualLayouts(cloudRows.toSorted((a, b) => a.cidr.family - b.cidr.family))) {
      const [first] = bar
      const extent = shown.get(sizeKey(first)) ?? 256n
      const barScale = `IPv${first.cidr.family} ${extent}`
      if (barScale !== scale) {
        parts.push(drawScale(first.cidr.family, extent, y))
        y += SCALE
        scale = barScale
      }
      parts.push(drawBar(bar, y, extent, conflicts))
      y += barHeight(bar) + 8
    }
    y += 10
  }
  const total = conflicts.length
  if (total > 0) parts.push(text(16, y + 12, 'Conflicts', 'cloud'))
  for (const { range, owners } of conflicts) {
    y += 18
    parts.push(text(28, y + 12, `✖ ${rangeWords(range)}: ${owners.join(' and ')}`, 'small'))
  }
  if (total > 0) y += 24
  const summary = total > 0 ? 'Address map with conflicts' : 'Address map'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 16}" viewBox="0 0 ${WIDTH} ${y + 16}" role="img">`,
    `<title>${escape(`${summary} of ${plan.site}`)}</title>`,
    definitions(),
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 28, `${plan.site}: owners of addresses`, 'site'),
    legend(total > 0),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function rowsOf(plan: Plan): readonly Row[] {
  return plan.clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) =>
      network.subnets.flatMap((subnet): readonly Row[] => {
        const cidr = parseCidr(subnet.cidr)
        if (!cidr) return []
        const vlan = subnet.vlan ?? network.vlan
        const [nic = ''] = (network.segment ?? '').split('/')
        const segment = segmentId(nic, vlan ?? 'untagged')
        const row = `${cloud.name}/${network.name}/${subnet.name}`
        const spans = subnet.spans.flatMap(({ role, start, end }) => {
          const range = parseRange(`${start}-${end}`)
          return range ? [{ ...range, role, row, cidr: subnet.cidr }] : []
        })
        return [{ cloud, network, subnet, cidr, segment, spans }]
      }),
    ),
  )
}

function keyOf({ cloud, network, subnet }: Row): string {
  return `${cloud.name}/${network.name}/${subnet.name}`
}

/** A range that two spans of one segment share. */
interface Conflict {
  readonly range: Range
  readonly rows: ReadonlySet<string>
  /** `rhoso1/storage pods` */
  readonly owners: readonly [string, string]
}

function conflictsOf(rows: readonly Row[]): readonly Conflict[] {
  const describe = ({ row, role }: RowSpan): string => `${row.slice(0, row.lastIndexOf('/'))} ${role}`
  return [...groupBy(rows, ({ segment }) => segment).values()].flatMap((segmentRows) => {
    const { pairs } = findOverlaps(
      segmentRows.flatMap(({ spans }) => spans),
      { limit: 1000, allowed: sharesNodes },
    )
    return pairs.flatMap(([a, b]): readonly Conflict[] => {
      const range = intersection(a, b)
      return range ? [{ range, rows: new Set([a.row, b.row]), owners: [describe(a), describe(b)] }] : []
    })
  })
}

type Bar = readonly [Row, ...Row[]]

/** Neighbours with the same spans at the same offsets. */
function foldEqualLayouts(rows: readonly Row[]): readonly Bar[] {
  const bars: Bar[] = []
  let last: { readonly layout: string; readonly bar: [Row, ...Row[]] } | undefined
  for (const row of rows) {
    const layout = layoutKey(row)
    if (last?.layout === layout) last.bar.push(row)
    else {
      last = { layout, bar: [row] }
      bars.push(last.bar)
    }
  }
  return bars
}

function layoutKey(row: Row): string {
  const offsets = row.spans.map(({ role, first, last }) => `${role} ${first - row.cidr.base}-${last - row.cidr.base}`)
  return [sizeKey(row), ...offsets].join(' ')
}

function barHeight(bar: Bar): number {
  return Math.max(20, bar.length * LINE)
}

/** Offsets from the first address of a subnet: decimal for IPv4, hexadecimal for IPv6. */
function drawScale(family: 4 | 6, shown: bigint, y: number): string {
  const steps = [0n, 1n, 2n, 3n, 4n]
  const marks = steps.map((step) => {
    const offset = (shown * step) / 4n
    const x = LABELS + (BAR * Number(step)) / 4
    const words = family === 6 ? `::${offset.toString(16)}` : `+${offset}`
    const anchor = step === 0n ? undefined : step === 4n ? 'end' : 'middle'
    return `${text(x, y + 9, words, 'scale', anchor)}\n<path d="M${x.toFixed(1)} ${y + 11}v5" class="mark"/>`
  })
  return [text(LABELS - 12, y + 9, `IPv${family}, offset`, 'scale', 'end'), ...marks].join('\n')
}

/** On a shared subnet a node has one address for all clouds. */
function sharesNodes(a: RowSpan, b: RowSpan): boolean {
  return a.role === 'nodes' && b.role === 'nodes' && a.row !== b.row && a.cidr === b.cidr
}

function drawBar(bar: Bar, y: number, shown: bigint, conflicts: readonly Conflict[]): string {
  const [first] = bar
  const { cidr } = first
  const height = barHeight(bar)
  const scale = BAR / Number(shown)
  const positionOf = (value: bigint, base = cidr.base): number => LABELS + Math.min(BAR, Number(value - base) * scale)
  const spans = first.spans.toSorted((a, b) => (a.first < b.first ? -1 : 1))
  const parts = [
    `<rect x="${LABELS}" y="${y}" width="${BAR}" height="${height}" fill="#f3f3f3" stroke="#999999" stroke-width="0.5"/>`,
  ]
  const box = (range: Range, base: bigint, attributes: string, title: string): string => {
    const x = positionOf(range.first, base)
    const width = Math.max(3, positionOf(range.last + 1n, base) - x)
    return `<rect x="${x.toFixed(1)}" width="${width.toFixed(1)}" ${attributes}><title>${escape(title)}</title></rect>`
  }
  for (const span of spans) {
    const all = bar.map((row) => row.spans[first.spans.indexOf(span)] ?? span)
    const title = all.map((same) => `${same.role} ${rangeWords(same)}`).join(', ')
    parts.push(box(span, cidr.base, `y="${y}" height="${height}" fill="url(#${span.role})" class="span"`, title))
  }
  bar.forEach((row, index) => {
    const top = y + (bar.length === 1 ? 0 : index * LINE)
    const lineHeight = bar.length === 1 ? height : LINE
    parts.push(drawLine(row, top, lineHeight, positionOf))
    for (const { range, owners } of conflicts.filter(({ rows }) => rows.has(keyOf(row)))) {
      const title = `conflict: ${rangeWords(range)} belongs to ${owners.join(' and ')}`
      parts.push(
        box(range, row.cidr.base, `y="${top}" height="${lineHeight}" fill="url(#conflict)" class="conflict"`, title),
      )
    }
    if (conflicts.some(({ rows }) => rows.has(keyOf(row)))) parts.push(text(14, top + 13, '✖', 'cross'))
  })
  spans.forEach((span, index) => {
    const left = index === 0 ? LABELS : positionOf((spans[index - 1]?.last ?? cidr.base) + 1n)
    const right = positionOf(spans[index + 1]?.first ?? cidr.base + shown)
    // A label may be wider than its span, up to the neighbours: the vips of a /24 have eleven addresses.
    const words = labelFor(span, first, right - left - 6)
    if (words === '') return
    const half = (words.length * CHARACTER) / 2
    const centred = (positionOf(span.first) + positionOf(span.last + 1n)) / 2
    const middle = Math.min(Math.max(centred, left + half + 3), right - half - 3)
    const centre = y + height / 2
    parts.push(
      `<rect x="${(middle - half - 2).toFixed(1)}" y="${centre - 7}" width="${(half * 2 + 4).toFixed(1)}" height="12" rx="2" fill="#ffffff" fill-opacity="0.9"/>`,
      text(middle, centre + 3, words, 'label', 'middle'),
    )
  })
  return parts.join('\n')
}

/** Name, subnet, tag and assigned addresses of one subnet. */
function drawLine(row: Row, y: number, height: number, positionOf: (value: bigint, base: bigint) => number): string {
  const { network, subnet, cidr } = row
  const vlan = subnet.vlan ?? network.vlan
  const tag = vlan === undefined ? 'untagged' : `VLAN ${vlan}`
  const ticks = ticksOf(row).map(
    (tick) => `<path d="M${positionOf(tick, cidr.base).toFixed(1)} ${y + height - 5}v5" class="tick"/>`,
  )
  return [
    text(28, y + 12, network.name, 'network'),
    text(128, y + 12, subnet.cidr, 'small'),
    text(LABELS - 12, y + 12, tag, 'small', 'end'),
    ...ticks,
  ].join('\n')
}

/** How many addresses a row shows: a large subnet only as far as it is used. Rows of one size have one scale. */
function extents(rows: readonly Row[]): ReadonlyMap<string, bigint> {
  const shown = new Map<string, bigint>()
  for (const row of rows) {
    const key = sizeKey(row)
    const extent = extentOf(row)
    if (extent > (shown.get(key) ?? 0n)) shown.set(key, extent)
  }
  return shown
}

function sizeKey({ cidr }: Row): string {
  return `${cidr.family}/${cidr.prefix}`
}

function extentOf({ spans, cidr, subnet }: Row): bigint {
  const gateway = subnet.gateway === undefined ? undefined : parseAddress(subnet.gateway)
  const used = [...spans.map(({ last }) => last), ...(gateway ? [gateway.value] : [])]
  const reach = used.reduce((most, value) => (value > most ? value : most), cidr.base) - cidr.base
  const whole = cidrSize(cidr)
  let shown = 256n
  while (shown < reach + 2n) shown *= 2n
  return shown < whole ? shown : whole
}

function ticksOf({ network, subnet, cidr }: Row): readonly bigint[] {
  const texts = [...network.nodes, ...network.vips, ...network.hosts, ...network.endpoints].map(
    ({ address }) => address,
  )
  if (subnet.gateway !== undefined) texts.push(subnet.gateway)
  const values = new Set<bigint>()
  for (const text of texts) {
    const address = parseAddress(text)
    if (address && cidrContains(cidr, address)) values.add(address.value)
  }
  return [...values]
}

function labelFor(span: RowSpan, { cidr }: Row, space: number): string {
  const short = `${tail(span, span.first, cidr)}-${tail(span, span.last, cidr)}`
  return [`${span.role} ${short}`, short, span.role, ''].find((words) => words.length * CHARACTER <= space) ?? ''
}

function tail({ family }: Range, value: bigint, { base, prefix }: Cidr): string {
  if (family === 6) return `::${(value - base).toString(16)}`
  const words = formatAddress({ family, value }).split('.')
  return `.${words.slice(prefix >= 24 ? 3 : 2).join('.')}`
}

function rangeWords({ family, first, last }: Range): string {
  return `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`
}

function definitions(): string {
  const patterns = Object.entries(roleStyles).map(
    ([role, { colour, pattern }]) =>
      `<pattern id="${role}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="${colour}"/>${pattern}</pattern>`,
  )
  return `<defs>
<style>text{font-family:"DejaVu Sans","Liberation Sans",Arial,sans-serif;font-size:11px;fill:#111111}.site{font-size:17px;font-weight:bold}.cloud{font-size:13px;font-weight:bold}.network{font-weight:bold}.label{font-size:10px}.small{font-size:10.5px;fill:#333333}.cross{font-size:14px;font-weight:bold;fill:${CONFLICT}}.tick{stroke:#000000;stroke-width:1.4}.scale{font-size:9px;fill:#666666}.mark{stroke:#999999;stroke-width:0.7}.span{stroke:#333333;stroke-width:0.7}.conflict{stroke:${CONFLICT};stroke-width:2}</style>
${patterns.join('\n')}
<pattern id="conflict" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${CONFLICT}" fill-opacity="0.75"/><path d="M0 0L6 6M6 0L0 6" stroke="#ffffff" stroke-width="1"/></pattern>
</defs>`
}

const meanings: Readonly<Record<AllocatorRole, string>> = {
  nodes: 'nodes (nmstate)',
  pods: 'pods (whereabouts)',
  vips: 'vips (MetalLB)',
  hosts: 'hosts (NetConfig)',
}

function legend(withConflicts: boolean): string {
  const parts: string[] = []
  let x = 16
  const entry = (fill: string, words: string): void => {
    parts.push(
      `<rect x="${x}" y="44" width="22" height="14" fill="url(#${fill})" stroke="#333333" stroke-width="0.7"/>`,
    )
    parts.push(text(x + 28, 55, words, 'small'))
    x += 44 + words.length * CHARACTER
  }
  for (const [role, words] of Object.entries(meanings)) entry(role, words)
  if (withConflicts) entry('conflict', '✖ conflict: two owners')
  parts.push(`<path d="M${x + 4} 46v10" class="tick"/>`, text(x + 12, 55, 'an assigned address', 'small'))
  return parts.join('\n')
}

function text(x: number, y: number, words: string, style: string, anchor?: 'middle' | 'end'): string {
  const where = anchor ? ` text-anchor="${anchor}"` : ''
  return `<text x="${x.toFixed(1)}" y="${y}" class="${style}"${where}>${escape(words)}</text>`
}

function escape(words: string): string {
  return words.replace(
    /[&<>"]/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] ?? character,
  )
}
