/** The sessions with the routers: one per router for all clouds, under one name wherever it is told. */
import type { Site } from '../site/site.ts'

/** What the site calls a peer, or a name that carries the namespace of the first cloud. */
export function bgpPeerName({ name, cluster, clouds }: Site, index: number): string {
  const own = cluster.metallb.peers[index]?.name
  if (own !== undefined) return own
  return `bgp-peer-${clouds[0]?.namespace ?? name}${index > 0 ? `-${index + 1}` : ''}`
}
