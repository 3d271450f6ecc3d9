/** Finds the pool of a cloud's network. Never one of another cloud or network: to use it would break the isolation. */

import type { KubeObject } from '../../api/object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrRange } from '../../net/cidr.ts'
import { rangeContains } from '../../net/range.ts'
import type { ClusterState } from '../cluster-state.ts'
import { cloudByPrefix, poolOwner, pools } from './address-pools.ts'
import { cloudSubnets } from './host-networks.ts'

/** The pool of this cloud that has the network of the named pool, or the network whose name was mistyped. */
export function suggestPool(name: string, namespace: string, cluster: ClusterState): string | undefined {
  const networks = cluster.derive(poolsByCloud).get(namespace)
  const network = poolNetwork(name, cluster)
  const same = networks?.get(network)
  if (!networks || same !== undefined || cluster.derive(networkNames).has(network)) return same
  return networks.get(closestNetwork(network, [...networks.keys()]) ?? '')
}

/** Names of pools by cloud, then by network. */
function poolsByCloud(cluster: ClusterState): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const pool of cluster.derive(pools)) {
    const owner = poolOwner(pool, cluster)
    if (owner === undefined) continue
    const networks = found.get(owner) ?? new Map<string, string>()
    const network = poolNetwork(pool.name, cluster)
    if (!networks.has(network)) networks.set(network, pool.name)
    found.set(owner, networks)
  }
  return found
}

/** A mistyped network. Numbers distinguish networks, so `storage2` is not meant by `storage1`. */
export function closestNetwork(name: string, known: readonly string[]): string | undefined {
  const numbers = (text: string): string => text.replaceAll(/\D+/g, ' ').trim()
  return closestMatch(
    name,
    known.filter((candidate) => numbers(candidate) === numbers(name)),
  )
}

/** The network of a pool: of the plan, or what follows the namespace in its name. */
function poolNetwork(name: string, cluster: ClusterState): string {
  const planned = cluster.derive(plannedNetworks).get(name)
  if (planned !== undefined) return planned
  const cloud = cloudByPrefix(name, cluster)
  return cloud === undefined ? name : name.slice(cloud.length + 1)
}

function plannedNetworks({ plan }: ClusterState): ReadonlyMap<string, string> {
  const networks = plan?.clouds.flatMap((cloud) => cloud.networks) ?? []
  return new Map(networks.flatMap(({ pool, name }) => (pool === undefined ? [] : [[pool, name] as const])))
}

/** Networks of any cloud. */
function networkNames(cluster: ClusterState): ReadonlySet<string> {
  return new Set([
    ...cluster.derive(plannedNetworks).values(),
    ...cluster.derive(cloudSubnets).map(({ network }) => network.toLowerCase()),
    ...[...cluster.derive(poolsByCloud).values()].flatMap((networks) => [...networks.keys()]),
  ])
}

/** The name that the pool of an address should have, by the network of the cloud that contains it. */
export function expectedPool(asked: string, namespace: string, cluster: ClusterState): string | undefined {
  const address = parseAddress(asked)
  const subnet = cluster
    .derive(cloudSubnets)
    .find(
      (candidate) => candidate.namespace === namespace && address && rangeContains(cidrRange(candidate.cidr), address),
    )
  return subnet && `${namespace}-${subnet.network.toLowerCase()}`
}

/** Stands for a pool that does not exist, so that a finding about it can explain others. */
export function missingPool(name: string, cluster: ClusterState): KubeObject {
  const namespace = metallbNamespace(cluster)
  return { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata: { name, namespace } }
}

export function metallbNamespace(cluster: ClusterState): string {
  const [pool] = cluster.derive(pools)
  return cluster.plan?.from.cluster.metallb.namespace ?? pool?.object.metadata.namespace ?? 'metallb-system'
}
