/** Records the use of the hosts' subnets while the console runs, after what a Prometheus knows of the time before. */
import type { HostsDocument } from './documents/hosts.ts'
import type { HostsInput } from './views/view-input.ts'

/** At most one day at one sample per minute. */
const MAX_POINTS = 1_440

type Point = HostsDocument['use'][number]['points'][number]

/** The metric `stackloom_ipam_addresses_used` of the operator over time. */
export type UseHistory = readonly {
  readonly namespace: string
  readonly network: string
  readonly subnet: string
  readonly points: readonly Point[]
}[]

interface Sample {
  readonly time: string
  readonly cloudName: (namespace: string) => string
  readonly history: UseHistory
}

export function recordUse(
  use: Map<string, HostsDocument['use'][number]>,
  subnets: HostsInput['subnets'],
  { time, cloudName, history }: Sample,
): void {
  const earlier = new Map(
    history.map((series) => [`${series.namespace}/${series.network}/${series.subnet}`, series.points]),
  )
  for (const { namespace, network, subnet, used, free } of subnets) {
    const id = `${namespace}/${network}/${subnet}`
    const samples = [...(use.get(id)?.points ?? []), { time, used }]
    const begin = samples[0]?.time ?? time
    const points = [...(earlier.get(id) ?? []).filter((point) => point.time < begin), ...samples].slice(-MAX_POINTS)
    use.set(id, { id, cloud: cloudName(namespace), network, of: String(BigInt(used) + BigInt(free)), points })
  }
}
