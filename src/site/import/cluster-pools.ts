/** MetalLB pools of a cluster: which cloud and network each belongs to. */

import { asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { parseRange } from '../../net/range.ts'
import { poolForeign } from './findings/existing.ts'

export interface PoolCandidate {
  readonly namespace: string
  readonly network: string
  readonly cidrs: readonly string[]
}

export interface MatchedPool {
  readonly pool: string
  readonly namespace: string
  readonly network: string
  readonly addresses: readonly string[]
}

/** Addresses tell the truth first; a name counts where no subnet is known. */
export function matchPools(
  pools: readonly KubeObject[],
  homes: readonly PoolCandidate[],
  findings: Finding[],
): readonly MatchedPool[] {
  return pools.flatMap((pool) => {
    const { name, namespace: own = '' } = pool.metadata
    const spec = asRecord(pool['spec'])
    const addresses = asStrings(spec['addresses'])
    const scope = asStrings(asRecord(spec['serviceAllocation'])['namespaces'])
    const open = homes.filter(({ namespace }) => scope.length === 0 || scope.includes(namespace))
    const home =
      open.find(({ cidrs }) => cidrs.some((cidr) => holds(cidr, addresses))) ??
      open.find(({ namespace, network }) => [`${namespace}-${network}`, `${network}-${namespace}`].includes(name)) ??
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
