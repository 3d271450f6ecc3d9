/** Asks from a machine on a segment which hardware address answers for a VIP: by ARP, or by neighbour discovery for IPv6. */
import { quoteShellWord } from '../../errors/shell-words.ts'
import type { Enclosure } from '../enclosure.ts'

export interface Observer {
  /** Its interface on the segment. */
  readonly iface: string
  /** busybox, whose arping needs no address of its own. */
  readonly busybox: string
}

/** Undefined when no machine answers within a second. */
export async function askHolder({ exec }: Enclosure, observer: Observer, address: string): Promise<string | undefined> {
  const { stdout } = await exec({ file: 'sh', args: ['-c', holderScript(observer, address)] })
  return parseHolder(stdout)
}

/**
 * Pure. The kernel resolves an IPv6 neighbour before it sends, and keeps the result, so an earlier one is deleted first. Gateways
 * of the segment are in the same namespace, so the way of the packet is given.
 */
export function holderScript({ iface, busybox }: Observer, address: string): string {
  const program = quoteShellWord(busybox)
  if (!address.includes(':')) return `${program} arping -D -c 1 -w 1 -I ${iface} ${address}`
  return [
    `ip -6 route replace ${address} dev ${iface}`,
    `ip -6 neigh del ${address} dev ${iface} 2>/dev/null`,
    `${program} ping -c 1 -W 1 -I ${iface} ${address} >/dev/null 2>&1`,
    `ip -6 neigh show ${address} dev ${iface}`,
  ].join('; ')
}

/** Pure: the sender in the output of arping, in brackets, or the neighbour in that of `ip`. */
export function parseHolder(output: string): string | undefined {
  return /(?:\[|lladdr )([0-9a-f:]{17})/i.exec(output)?.[1]?.toLowerCase()
}
