/**
 * Draws the topology of a site: nodes and their NICs, the segments that they carry, bridges, and the networks of the clouds
 * with their VIPs. As SVG, one line per segment, and as a Mermaid flowchart. Pure.
 */
import type { ClusterNode } from '../site/site.ts'
import type { Plan, PlannedCloud, PlannedNetwork, Segment } from './plan.ts'

const LEFT = 30
const NODE = 116
const ROW = 26
const HEAD = 120
const NAMES = 300
const CHARACTER = 6.2

/** The Okabe-Ito palette, which is readable with any colour blindness; every box has its name, too. */
const colours = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442']

/** A network of a cloud on a segment. */
interface Member {
  readonly cloud: PlannedCloud
  readonly network: PlannedNetwork
}

export function drawTopology(plan: Plan): string {
  const nodes = plan.from.cluster.nodes
  const bus = LEFT + nodes.length * NODE
  const boxes = bus + NAMES
  const parts: string[] = []
  let y = HEAD
  let widest = boxes
  const reach = new Map<number, number>()
  for (const segment of plan.segments) {
    const members = membersOf(plan, segment)
    const height = Math.max(1, members.length) * ROW
    const line = y + 12
    parts.push(`<path d="M${LEFT} ${line}H${boxes - 8}" class="bus"/>`)
    parts.push(text(bus + 8, line - 4, describe(segment), 'segment'))
    nodes.forEach((node, index) => {
      const nic = node.nics[segment.nic]
      if (nic === undefined) return
      const x = nicPosition(node, index, nic)
      reach.set(x, line)
      parts.push(`<circle cx="${x}" cy="${line}" r="4"><title>${escape(`${node.name} ${nic}`)}</title></circle>`)
    })
    members.forEach((member, index) => {
      const words = describeMember(member)
      const width = words.length * CHARACTER + 16
      const top = y + index * ROW
      widest = Math.max(widest, boxes + width)
      if (index > 0) parts.push(`<path d="M${boxes - 8} ${line}V${top + 12}H${boxes}" class="bus"/>`)
      else parts.push(`<path d="M${boxes - 8} ${line}H${boxes}" class="bus"/>`)
      parts.push(
        `<rect x="${boxes}" y="${top}" width="${width.toFixed(1)}" height="22" rx="3" fill="#ffffff" stroke="${colourOf(plan, member.cloud)}" stroke-width="2.5"><title>${escape(describeVips(member))}</title></rect>`,
        text(boxes + 8, top + 15, words, 'member'),
      )
    })
    y += height + 6
  }
  const cables = [...reach].map(([x, end]) => `<path d="M${x} ${HEAD - 20}V${end}" class="nic"/>`)
  const machines = nodes.flatMap((node, index) => {
    const x = nodeCentre(index)
    const { name } = node
    const names = devicesOf(node).join(', ')
    return [
      `<rect x="${x - NODE / 2 + 6}" y="${HEAD - 66}" width="${NODE - 12}" height="46" rx="4" class="node"/>`,
      text(x, HEAD - 46, name, 'name', 'middle'),
      text(x, HEAD - 29, names, 'small', 'middle'),
    ]
  })
  const width = Math.ceil(widest + 20)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + 16}" viewBox="0 0 ${width} ${y + 16}" role="img">`,
    `<title>${escape(`Topology of ${plan.site}`)}</title>`,
    style,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    text(16, 28, `${plan.site}: nodes, segments and clouds`, 'site'),
    ...cables,
    ...machines,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

const style = `<style>text{font-family:"DejaVu Sans","Liberation Sans",Arial,sans-serif;font-size:11px;fill:#111111}.site{font-size:17px;font-weight:bold}.name{font-weight:bold}.small,.segment{font-size:10.5px;fill:#333333}.bus{stroke:#555555;stroke-width:1.4;fill:none}.nic{stroke:#111111;stroke-width:2.2}.node{fill:#f3f3f3;stroke:#333333}circle{fill:#111111}</style>`

function nodeCentre(index: number): number {
  return LEFT + index * NODE + NODE / 2
}

function devicesOf({ nics }: ClusterNode): readonly string[] {
  return [...new Set(Object.values(nics))]
}

/** The NICs of a node side by side below it. */
function nicPosition(node: ClusterNode, index: number, nic: string): number {
  const devices = devicesOf(node)
  return nodeCentre(index) + (devices.indexOf(nic) - (devices.length - 1) / 2) * 24
}

function membersOf({ clouds }: Plan, { id }: Segment): readonly Member[] {
  return clouds.flatMap((cloud) =>
    cloud.networks.filter(({ segment }) => segment === id).map((network) => ({ cloud, network })),
  )
}

/** `main, VLAN 20, enp6s0.20, bridge ospbr` */
function describe({ nic, vlan, interface: carrier, bridge }: Segment): string {
  const tag = vlan === undefined ? 'untagged' : `VLAN ${vlan}`
  return [nic, tag, carrier, ...(bridge === undefined ? [] : [`bridge ${bridge}`])].join(', ')
}

/** `rhoso1/internalapi 172.17.0.0/24, VIPs .80 .85 .86`; without VIPs, only the subnets. */
function describeMember({ cloud, network }: Member): string {
  const subnets = network.subnets.map(({ cidr }) => cidr).join(' ')
  const vips = vipAddresses(network)
  const shown = vips.slice(0, 3).join(' ')
  const more = vips.length > 3 ? ` +${vips.length - 3}` : ''
  return `${cloud.name}/${network.name} ${subnets}${vips.length > 0 ? `, VIPs ${shown}${more}` : ''}`.trimEnd()
}

function describeVips({ cloud, network }: Member): string {
  const vips = network.vips.map(({ slot, address }) => `${address} ${slot}`)
  return [`${cloud.name}/${network.name}`, ...vips].join('\n')
}

function vipAddresses({ vips }: PlannedNetwork): readonly string[] {
  return [...new Set(vips.map(({ address }) => address))]
}

function colourOf({ clouds }: Plan, { name }: PlannedCloud): string {
  const index = clouds.findIndex((cloud) => cloud.name === name)
  return colours[index % colours.length] ?? '#333333'
}

/** The same as a flowchart for Markdown pages. */
export function mermaidTopology(plan: Plan): string {
  const nodes = plan.from.cluster.nodes
  const nicsOf = (nics: Readonly<Record<string, string>>): string => Object.values(nics).join(', ')
  const lines = [
    'flowchart LR',
    '  subgraph nodes',
    ...nodes.map(({ name, nics }, index) => `    n${index}["${label(`${name}\n${nicsOf(nics)}`)}"]`),
    '  end',
    ...plan.segments.map((segment, index) => `  s${index}(["${label(describe(segment))}"])`),
    ...plan.clouds.flatMap((cloud, index) => [
      `  subgraph c${index}["${label(`${cloud.name} (namespace ${cloud.namespace})`)}"]`,
      ...cloud.networks
        .filter(({ segment }) => segment !== undefined)
        .map((network) => `    ${memberId(plan, { cloud, network })}["${label(describeMember({ cloud, network }))}"]`),
      '  end',
    ]),
    ...plan.segments.flatMap((segment, index) => [
      ...nodes.flatMap(({ nics }, node) => (nics[segment.nic] === undefined ? [] : [`  n${node} --- s${index}`])),
      ...membersOf(plan, segment).map((member) => `  s${index} --- ${memberId(plan, member)}`),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function memberId({ clouds }: Plan, { cloud, network }: Member): string {
  const cloudIndex = clouds.findIndex(({ name }) => name === cloud.name)
  const networkIndex = cloud.networks.findIndex(({ name }) => name === network.name)
  return `c${cloudIndex}w${networkIndex}`
}

function label(words: string): string {
  return words.replaceAll('"', '#quot;').replaceAll('\n', '<br/>')
}

function text(x: number, y: number, words: string, name: string, anchor?: 'middle'): string {
  const where = anchor ? ` text-anchor="${anchor}"` : ''
  return `<text x="${x.toFixed(1)}" y="${y}" class="${name}"${where}>${escape(words)}</text>`
}

function escape(words: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return words.replace(/[&<>"]/g, (character) => entities[character] ?? character)
}
