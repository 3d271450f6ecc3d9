/** VIPs that exist already, under the names of the slots that they belong to, and the cells that these speak of. */
import type { SiteFileCloud } from '../../api/site.ts'

/** By network for the APIs that share one, by its own name for a RabbitMQ. What has no slot is named in `others`. */
export function pinnedVips(found: ReadonlyMap<string, readonly string[]>): {
  readonly vips: Record<string, string | string[]>
  readonly others: readonly string[]
} {
  const vips: Record<string, string | string[]> = {}
  const others: string[] = []
  for (const [key, addresses] of found) {
    const slot = slotOf(key)
    const [first, ...more] = addresses
    if (slot === undefined) others.push(key)
    else if (first !== undefined) vips[slot] = more.length === 0 ? first : [first, ...more]
  }
  return { vips, others }
}

/** Every cloud has a keystone, and the APIs of a network share its address; ctlplane's is that of the DNS server. */
function slotOf(key: string): string | undefined {
  if (key === 'internalapi') return 'keystone.internal'
  if (key === 'ctlplane') return 'dns'
  return rabbitmqSlot(key)
}

/** The one of the cloud, and one for each cell. */
export function rabbitmqSlot(name: string): string | undefined {
  return /^rabbitmq(?:-cell\w+)?$/.test(name) ? `rabbitmq.${name}` : undefined
}

/** A Service of a cell means that the cell exists; every cloud has cell1. */
export function withCells(
  vips: Readonly<Record<string, unknown>>,
  services: NonNullable<SiteFileCloud['services']> = {},
): Pick<SiteFileCloud, 'services'> {
  const cells = Object.keys(vips).flatMap(
    (slot) => /^(?:rabbitmq\.rabbitmq-|nova\.)(cell\w+)(?:\.|$)/.exec(slot)?.[1] ?? [],
  )
  const all = [...new Set(['cell1', ...cells])].sort()
  const { nova } = services
  const settings = typeof nova === 'object' ? nova : {}
  const named = all.length > 1 ? { ...services, nova: { ...settings, cells: all } } : services
  return Object.keys(named).length > 0 ? { services: named } : {}
}
