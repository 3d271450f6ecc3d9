/**
 * Finds why a Service has no address, by repeating the decision of MetalLB in the same order. One cause per Service, so that
 * only one rule reports it.
 */

import { ageMs, getString } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import type { ClusterState } from '../cluster-state.ts'
import { findPool, findPoolByAddress, type Pool, poolSize, pools, serves } from './address-pools.ts'
import {
  type AnnotationValue,
  allocationFailure,
  holdersByAddress,
  type LoadBalancer,
  metallbAnnotation,
  overrideAnnotations,
  pendingServices,
} from './load-balancers.ts'

export type PendingCause =
  | { readonly kind: 'other-class'; readonly loadBalancerClass: string }
  | { readonly kind: 'no-pools' }
  | { readonly kind: 'two-requests' }
  | { readonly kind: 'no-address'; readonly asked: string }
  | { readonly kind: 'family'; readonly asked: string; readonly families: string }
  | { readonly kind: 'not-in-pool'; readonly asked: string }
  | { readonly kind: 'not-served'; readonly pool: Pool; readonly asked: string | undefined }
  | { readonly kind: 'sharing'; readonly asked: string; readonly holder: LoadBalancer }
  | { readonly kind: 'port-clash'; readonly asked: string; readonly holder: LoadBalancer; readonly port: string }
  | { readonly kind: 'other-pool'; readonly asked: string; readonly requestedPool: string; readonly pool: Pool }
  | { readonly kind: 'unknown-pool'; readonly requestedPool: string }
  | { readonly kind: 'stale'; readonly annotation: string; readonly value: string }
  | { readonly kind: 'exhausted'; readonly pool: Pool }
  | { readonly kind: 'no-auto-assign' }
  | { readonly kind: 'unexplained' }

export interface PendingService {
  readonly service: LoadBalancer
  readonly cause: PendingCause
}

/** Every pending Service with its cause, except recent ones without a cause. */
export function pendingCauses(cluster: ClusterState): readonly PendingService[] {
  return cluster.derive(pendingServices).flatMap((service) => {
    const cause = preferStaleAnnotation(findCause(service, cluster), service, cluster)
    if (cause.kind === 'unexplained' && isRecent(service, cluster)) return []
    return [{ service, cause }]
  })
}

function isRecent(service: LoadBalancer, cluster: ClusterState): boolean {
  if (allocationFailure(service, cluster)) return false
  const age = ageMs(service.object.metadata.creationTimestamp, cluster.now)
  return age < cluster.context.grace.allocationMs
}

function findCause(service: LoadBalancer, cluster: ClusterState): PendingCause {
  const { object, addresses, pool: requestedPool } = service
  const loadBalancerClass = getString(object, 'spec', 'loadBalancerClass')
  if (loadBalancerClass !== undefined) return { kind: 'other-class', loadBalancerClass }
  if (cluster.derive(pools).length === 0) return { kind: 'no-pools' }
  if (getString(object, 'spec', 'loadBalancerIP') !== undefined && metallbAnnotation(object, 'loadBalancerIPs'))
    return { kind: 'two-requests' }
  for (const asked of addresses) {
    const cause = causeForAddress(service, asked, cluster)
    if (cause) return cause
  }
  if (addresses.length > 0) return { kind: 'unexplained' }
  return requestedPool ? causeForPool(service, requestedPool.value, cluster) : causeForAutoAssign(service, cluster)
}

function causeForAddress(service: LoadBalancer, asked: string, cluster: ClusterState): PendingCause | undefined {
  const address = parseAddress(asked)
  if (!address) return { kind: 'no-address', asked }
  const families = serviceFamilies(service)
  if (families.length > 0 && !families.includes(`IPv${address.family}`))
    return { kind: 'family', asked, families: families.join(' and ') }
  const pool = findPoolByAddress(cluster, asked)
  if (!pool) return { kind: 'not-in-pool', asked }
  if (!serves(pool, service.object)) return { kind: 'not-served', pool, asked }
  for (const holder of cluster.derive(holdersByAddress).get(asked) ?? []) {
    if (holder.key === undefined || holder.key !== service.key) return { kind: 'sharing', asked, holder }
    const port = service.ports.find((port) => holder.ports.includes(port))
    if (port !== undefined) return { kind: 'port-clash', asked, holder, port }
  }
  const requestedPool = service.pool?.value
  return requestedPool !== undefined && requestedPool !== pool.name
    ? { kind: 'other-pool', asked, requestedPool, pool }
    : undefined
}

function serviceFamilies({ object }: LoadBalancer): readonly string[] {
  const families = (object['spec'] as { readonly ipFamilies?: unknown } | undefined)?.ipFamilies
  return Array.isArray(families) ? families.filter((family): family is string => typeof family === 'string') : []
}

function causeForPool(service: LoadBalancer, requestedPool: string, cluster: ClusterState): PendingCause {
  const pool = findPool(cluster, requestedPool)
  if (!pool) return { kind: 'unknown-pool', requestedPool }
  if (!serves(pool, service.object)) return { kind: 'not-served', pool, asked: undefined }
  return isFull(pool, service, cluster) ? { kind: 'exhausted', pool } : { kind: 'unexplained' }
}

function causeForAutoAssign(service: LoadBalancer, cluster: ClusterState): PendingCause {
  const open = cluster.derive(pools).filter((pool) => pool.autoAssign && serves(pool, service.object))
  const [first] = open
  if (!first) return { kind: 'no-auto-assign' }
  return open.every((pool) => isFull(pool, service, cluster))
    ? { kind: 'exhausted', pool: first }
    : { kind: 'unexplained' }
}

/** Whether no address of the pool is free or can be shared. */
function isFull(pool: Pool, service: LoadBalancer, cluster: ClusterState): boolean {
  const taken = [...cluster.derive(holdersByAddress)].filter(
    ([address]) => findPoolByAddress(cluster, address) === pool,
  )
  const shareable = taken.some(([, all]) => all.every((holder) => canShare(holder, service)))
  return !shareable && BigInt(taken.length) >= poolSize(pool)
}

function canShare(holder: LoadBalancer, service: LoadBalancer): boolean {
  return (
    holder.key !== undefined && holder.key === service.key && !service.ports.some((port) => holder.ports.includes(port))
  )
}

/** Operators never remove annotations, so MetalLB may still use a value that no control plane sets any more. */
function preferStaleAnnotation(cause: PendingCause, service: LoadBalancer, cluster: ClusterState): PendingCause {
  const current = cluster.derive(overrideAnnotations).get(service.namespace)
  if (!current) return cause
  const stale = (name: string, value: AnnotationValue | undefined): PendingCause | undefined => {
    const annotation = `metallb.universe.tf/${name}`
    return value?.deprecated && !current.has(`${annotation}=${value.value}`)
      ? { kind: 'stale', annotation, value: value.value }
      : undefined
  }
  switch (cause.kind) {
    case 'unknown-pool':
    case 'exhausted':
      return stale('address-pool', service.pool) ?? cause
    case 'not-served':
      return (
        (cause.asked === undefined
          ? stale('address-pool', service.pool)
          : stale('loadBalancerIPs', metallbAnnotation(service.object, 'loadBalancerIPs'))) ?? cause
      )
    case 'not-in-pool':
    case 'sharing':
    case 'port-clash':
      return stale('loadBalancerIPs', metallbAnnotation(service.object, 'loadBalancerIPs')) ?? cause
    case 'other-pool':
      return (
        stale('address-pool', service.pool) ??
        stale('loadBalancerIPs', metallbAnnotation(service.object, 'loadBalancerIPs')) ??
        cause
      )
    default:
      return cause
  }
}
