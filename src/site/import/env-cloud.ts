/** What one environment file says of its cloud, ready to be looked at together with the others. */
import type { EnvSettings } from './env-settings.ts'

export interface EnvCloud {
  readonly env: EnvSettings
  readonly name: string
  readonly namespace: string
  readonly nic: string
  readonly families: (4 | 6)[]
  readonly vlanOf: (step: number) => number
  readonly mtu: number
}

export function envCloud(env: EnvSettings): EnvCloud {
  const namespace = env.text('NAMESPACE')
  const start = env.number('NETWORK_VLAN_START')
  const step = env.number('NETWORK_VLAN_STEP')
  const both = [
    ...(env.flag('NETWORK_ISOLATION_IPV4') ? [4 as const] : []),
    ...(env.flag('NETWORK_ISOLATION_IPV6') ? [6 as const] : []),
  ]
  return {
    env,
    name: env.text('RHOSO_INSTANCE_NAME') || namespace,
    namespace,
    nic: env.text('NNCP_INTERFACE'),
    families: both.length > 0 ? both : [4],
    vlanOf: (k) => start + k * step,
    mtu: env.number('NETWORK_MTU'),
  }
}

/** The file leaves it to the default, and an earlier cloud has that network already. */
export function isDefaultTwice({ env }: EnvCloud, prefix: string, earlier: readonly EnvCloud[]): boolean {
  return !env.sets(prefix) && earlier.some((other) => other.env.prefix(prefix) === env.prefix(prefix))
}

/** `5-29` below `172.17.0.` or `fd00:bbbb::` as a range. */
export function formatSpan(base: string, offsets: string): string {
  const [first = '', last = first] = offsets.split('-')
  return `${base}${first}-${base}${last}`
}

/** The first cloud has fd00:bbbb::/64, the next fd00:bbbb:0:1::/64. */
export function ipv6Base(prefix: string, index: number): string {
  return index === 0 ? prefix : `${prefix.replace(/::$/, '')}:0:${index.toString(16)}::`
}
