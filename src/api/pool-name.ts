/** Names the MetalLB pool of a cloud's network. Two pools with one name cannot exist, so the namespace is part of it. */

export function poolName(namespace: string, network: string): string {
  return `${namespace}-${network}`
}
