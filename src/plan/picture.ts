/**
 * Draws the address map as SVG: one row per subnet, spans by role, assigned addresses as ticks, conflicts in red.
 *
 * Pure. Every role has a colour of the Okabe-Ito palette, a pattern and its name, so that it is readable on a
 * black-and-white printer and with any colour blindness.
 */
import { formatAddress, parseAddress } from '../net/address.ts'
import { type Cidr, cidrContains, cidrSize, parseCidr } from '../net/cidr.ts'
import { findOverlaps } from '../net/overlaps.ts'
import { intersection, parseRange, type Range } from '../net/range.ts'
import type { AllocatorRole } from '../site/site.ts'
import { groupBy } from './collections.ts'
import { segmentId } from './draft/draft.ts'
import type { Plan, PlannedCloud, PlannedNetwork, PlannedSubnet } from './plan.ts'

const WIDTH = 1200
const LABELS = 330
const BAR = WIDTH - LABELS - 20
const ROW = 30
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
    for (const row of cloudRows) {
      parts.push(drawRow(row, y, shown.get(sizeKey(row)) ?? 256n, conflicts.get(keyOf(row)) ?? []))
      y += ROW
    }
    y += 10
  }
  const total = [...conflicts.values()].flat().length
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

/** The ranges that two spans of one segment share, by row. */
function conflictsOf(rows: readonly Row[]): ReadonlyMap<string, readonly Range[]> {
  const found = new Map<string, Range[]>()
  for (const segmentRows of groupBy(rows, ({ segment }) => segment).values()) {
    const { pairs } = findOverlaps(
      segmentRows.flatMap(({ spans }) => spans),
      { limit: 1000, allowed: sharesNodes },
    )
    for (const [a, b] of pairs) {
      const both = intersection(a, b)
      if (!both) continue
      for (const row of new Set([a.row, b.row])) found.set(row, [...(found.get(row) ?? []), both])
    }
  }
  return found
}

/** On a shared subnet a node has one address for all clouds. */
function sharesNodes(a: RowSpan, b: RowSpan): boolean {
  return a.role === 'nodes' && b.role === 'nodes' && a.row !== b.row && a.cidr === b.cidr
}

function drawRow(row: Row, y: number, shown: bigint, conflicts: readonly Range[]): string {
  const { network, subnet, cidr } = row
  const scale = BAR / Number(shown)
  const positionOf = (value: bigint): number => LABELS + Math.min(BAR, Number(value - cidr.base) * scale)
  const vlan = subnet.vlan ?? network.vlan
  const tag = vlan === undefined ? 'untagged' : `VLAN ${vlan}`
  const box = (range: Range, attributes: string, title: string): string => {
    const width = Math.max(3, positionOf(range.last + 1n) - positionOf(range.first))
    const x = positionOf(range.first).toFixed(1)
    return `<rect x="${x}" y="${y}" width="${width.toFixed(1)}" height="20" ${attributes}><title>${escape(title)}</title></rect>`
  }
  const parts = [
    text(28, y + 14, network.name, 'network'),
    text(128, y + 14, subnet.cidr, 'small'),
    text(LABELS - 12, y + 14, tag, 'small', 'end'),
    `<rect x="${LABELS}" y="${y}" width="${BAR}" height="20" fill="#f3f3f3" stroke="#999999" stroke-width="0.5"/>`,
  ]
  for (const span of row.spans) {
    const words = `${span.role} ${rangeWords(span)}`
    parts.push(box(span, `fill="url(#${span.role})" stroke="#333333" stroke-width="0.7"`, words))
  }
  for (const tick of ticksOf(row)) parts.push(`<path d="M${positionOf(tick).toFixed(1)} ${y + 15}v5" class="tick"/>`)
  for (const range of conflicts) {
    const title = `conflict: ${rangeWords(range)} belongs to two`
    parts.push(box(range, `fill="url(#conflict)" stroke="${CONFLICT}" stroke-width="2"`, title))
  }
  for (const span of row.spans) {
    const space = positionOf(span.last + 1n) - positionOf(span.first) - 4
    const words = labelFor(span, row, space)
    if (words === '') continue
    const middle = (positionOf(span.first) + positionOf(span.last + 1n)) / 2
    const half = (words.length * CHARACTER) / 2
    parts.push(
      `<rect x="${(middle - half - 2).toFixed(1)}" y="${y + 3}" width="${(half * 2 + 4).toFixed(1)}" height="12" rx="2" fill="#ffffff" fill-opacity="0.9"/>`,
      text(middle, y + 13, words, 'label', 'middle'),
    )
  }
  if (conflicts.length > 0) parts.push(text(14, y + 15, '✖', 'cross'))
  return parts.join('\n')
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
<style>text{font-family:"DejaVu Sans","Liberation Sans",Arial,sans-serif;font-size:11px;fill:#111111}.site{font-size:17px;font-weight:bold}.cloud{font-size:13px;font-weight:bold}.network{font-weight:bold}.label{font-size:10px}.small{font-size:10.5px;fill:#333333}.cross{font-size:14px;font-weight:bold;fill:${CONFLICT}}.tick{stroke:#000000;stroke-width:1.4}</style>
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
