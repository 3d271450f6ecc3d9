/** Records the use of the hosts' subnets while the console runs. */
import type { HostsDocument } from './documents/hosts.ts'
import type { HostsInput } from './views/view-input.ts'

/** At most one day at one sample per minute. */
const MAX_POINTS = 1_440

export function recordUse(
  use: Map<string, HostsDocument['use'][number]>,
  subnets: HostsInput['subnets'],
  time: string,
  cloudName: (namespace: string) => string,
): void {
  for (const { namespace, network, subnet, used, free } of subnets) {
    const id = `${namespace}/${network}/${subnet}`
    const points = [...(use.get(id)?.points ?? []), { time, used }].slice(-MAX_POINTS)
    use.set(id, { id, cloud: cloudName(namespace), network, of: String(BigInt(used) + BigInt(free)), points })
  }
}
