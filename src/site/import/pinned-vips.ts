/** VIPs that exist already, under the names of the slots that they belong to. */

/** By network for the APIs that share one, by its own name for a RabbitMQ. */
export function pinnedVips(found: ReadonlyMap<string, readonly string[]>): Record<string, string | string[]> {
  const pins: Record<string, string | string[]> = {}
  for (const [key, addresses] of found) {
    const slot = slotOf(key)
    const [first, ...more] = addresses
    if (slot && first) pins[slot] = more.length === 0 ? first : [first, ...more]
  }
  return pins
}

/** Every cloud has a keystone, and the APIs of a network share its address; ctlplane's is that of the DNS server. */
function slotOf(key: string): string | undefined {
  if (key === 'internalapi') return 'keystone.internal'
  if (key === 'ctlplane') return 'dns'
  return key === 'rabbitmq' || key.startsWith('rabbitmq-') ? `rabbitmq.${key}` : undefined
}
