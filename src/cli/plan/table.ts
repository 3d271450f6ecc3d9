/** Formats a plan as a table: one row per subnet, each span with its use. */
import pc from 'picocolors'
import { parseRange, rangeSize } from '../../net/range.ts'
import type { Change } from '../../plan/changes.ts'
import type { Plan, PlannedCloud, PlannedNetwork, PlannedSubnet } from '../../plan/plan.ts'
import type { AllocatorRole } from '../../site/site.ts'
import { formatTable, type Row, visibleWidth } from '../output/table.ts'

const ROLES: readonly AllocatorRole[] = ['nodes', 'pods', 'vips', 'hosts']
const WIDE = ['INTERFACE', 'MTU', 'GATEWAY', 'POOL']

export interface TableOptions {
  readonly wide: boolean
  readonly columns: number
  readonly colour: boolean
}

/** One table where it fits; otherwise a table per cloud, with the use of the vips spans only. */
export function planTable(plan: Plan, { wide, columns, colour }: TableOptions): string {
  const full = oneTable(plan, wide, colour)
  const fits = full.split('\n').every((line) => visibleWidth(line) <= columns)
  return wide || fits ? full : plan.clouds.map((cloud) => cloudTable(cloud, columns, colour)).join('\n')
}

const spanHeader = ROLES.map((role) => role.toUpperCase())

function oneTable(plan: Plan, wide: boolean, colour: boolean): string {
  const header = ['CLOUD', 'NETWORK', 'VLAN', 'SUBNET', ...spanHeader, ...(wide ? WIDE : [])]
  const rows = plan.clouds.flatMap((cloud) => cloud.networks.flatMap((network) => formatRows(cloud, network, wide)))
  return formatTable(header, rows, Number.POSITIVE_INFINITY, colour)
}

function cloudTable(cloud: PlannedCloud, columns: number, colour: boolean): string {
  const rows = cloud.networks.flatMap((network) =>
    subnetsOf(network).map((subnet) => [
      network.name,
      vlanCell(network, subnet),
      subnet?.cidr ?? '-',
      ...ROLES.map((role) => (subnet ? spanCell(network, subnet, role, role === 'vips') : '-')),
    ]),
  )
  const table = formatTable(['NETWORK', 'VLAN', 'SUBNET', ...spanHeader], rows, columns, colour)
  return `${cloud.name} (namespace ${cloud.namespace})\n${table}`
}

function subnetsOf(network: PlannedNetwork): readonly (PlannedSubnet | undefined)[] {
  return network.subnets.length > 0 ? network.subnets : [undefined]
}

function vlanCell(network: PlannedNetwork, subnet: PlannedSubnet | undefined): string {
  const vlan = subnet?.vlan ?? network.vlan
  if (network.segment === undefined) return '-'
  return vlan === undefined ? 'none' : String(vlan)
}

function formatRows(cloud: PlannedCloud, network: PlannedNetwork, wide: boolean): readonly Row[] {
  return subnetsOf(network).map((subnet) => {
    const cells = [cloud.name, network.name, vlanCell(network, subnet), subnet?.cidr ?? '-']
    for (const role of ROLES) cells.push(subnet ? spanCell(network, subnet, role, true) : '-')
    if (wide) cells.push(network.interface || '-', String(network.mtu), subnet?.gateway ?? '-', network.pool ?? '-')
    return cells
  })
}

/** `.80-.90 3/11`: the span, how many addresses are assigned, and how many there are. */
function spanCell(network: PlannedNetwork, subnet: PlannedSubnet, role: AllocatorRole, filled: boolean): string {
  const spans = subnet.spans.filter((span) => span.role === role)
  if (spans.length === 0) return '-'
  const texts = spans.map(({ start, end }) => `${tail(start, subnet)}-${tail(end, subnet)}`)
  const size = spans.reduce((sum, { start, end }) => {
    const range = parseRange(`${start}-${end}`)
    return sum + (range ? rangeSize(range) : 0n)
  }, 0n)
  const used = filled ? countUsed(network, subnet, role) : undefined
  const fill = used === undefined ? '' : ` ${used}/${size}`
  return `${texts.join(',')}${fill}`
}

/** The part of an address that differs from its subnet. */
function tail(address: string, { family, cidr }: PlannedSubnet): string {
  if (family === 6) return `::${address.slice(address.lastIndexOf(':') + 1)}`
  const prefix = Number(cidr.slice(cidr.indexOf('/') + 1))
  return `.${address
    .split('.')
    .slice(prefix >= 24 ? 3 : prefix >= 16 ? 2 : 1)
    .join('.')}`
}

/** Undefined for pods: whereabouts assigns their addresses at run time. */
function countUsed(network: PlannedNetwork, { family }: PlannedSubnet, role: AllocatorRole): number | undefined {
  const count = (all: readonly { readonly address: string }[]): number =>
    new Set(all.map(({ address }) => address).filter((text) => text.includes(':') === (family === 6))).size
  if (role === 'nodes') return count(network.nodes)
  if (role === 'vips') return count(network.vips)
  return role === 'hosts' ? count(network.hosts) : undefined
}

export function changeTable(changes: readonly Change[], colour: boolean): string {
  const { green, yellow } = pc.createColors(colour)
  const rows = changes.map(({ cloud, network, what, from, to, risk }) => [
    network === undefined ? cloud : `${cloud}/${network}`,
    what,
    from ?? '-',
    to ?? '-',
    risk === 'safe' ? green(risk) : yellow(risk),
  ])
  if (rows.length === 0) return 'nothing changes\n'
  return formatTable(['WHERE', 'WHAT', 'FROM', 'TO', 'RISK'], rows, Number.POSITIVE_INFINITY, colour)
}
