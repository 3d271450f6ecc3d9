/** MetalLB pools of a cluster: which cloud and network each belongs to. */
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { poolForeign } from '../../errors/import-existing.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { parseRange } from '../../net/range.ts'
import { recordOf, textsOf } from '../../yaml/loose.ts'

export interface PoolHome {
  readonly namespace: string
  readonly network: string
  readonly cidrs: readonly string[]
}

export interface HousedPool {
  readonly pool: string
  readonly namespace: string
  readonly network: string
  readonly addresses: readonly string[]
}

/** Addresses tell the truth first; a name counts where no subnet is known. */
export function housePools(
  pools: readonly KubeObject[],
  homes: readonly PoolHome[],
  findings: Finding[],
): readonly HousedPool[] {
  return pools.flatMap((pool) => {
    const { name, namespace: own = '' } = pool.metadata
    const spec = recordOf(pool['spec'])
    const addresses = textsOf(spec['addresses'])
    const scope = textsOf(recordOf(spec['serviceAllocation'])['namespaces'])
    const open = homes.filter(({ namespace }) => scope.length === 0 || scope.includes(namespace))
    const home =
      open.find(({ cidrs }) => cidrs.some((cidr) => holds(cidr, addresses))) ??
      open.find(({ namespace, network }) =>
        [`${namespace}-${network}`, `${network}-${namespace}`].includes(name),
      ) ??
      open.find(({ network }) => network === name)
    if (home) return [{ pool: name, namespace: home.namespace, network: home.network, addresses }]
    const where = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', namespace: own, name }
    const why =
      open.length === 0
        ? `it is for ${scope.join(', ')}, which is no cloud here`
        : 'none of its addresses is in a subnet of a cloud, and its name is not that of a network'
    findings.push(finding(poolForeign, { pool: name, why }, { where }))
    return []
  })
}

function holds(cidr: string, addresses: readonly string[]): boolean {
  const network = parseCidr(cidr)
  return addresses.some((text) => {
    const range = parseRange(text)
    return network && range && cidrContains(network, { family: range.family, value: range.first })
  })
}
