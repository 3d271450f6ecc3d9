/**
 * Why a Service has no address: MetalLB's own decision, taken again on what was gathered, in MetalLB's order.
 *
 * One cause for each Service, so that the rules about pending Services never speak twice.
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
  | { readonly kind: 'two-wishes' }
  | { readonly kind: 'no-address'; readonly asked: string }
  | { readonly kind: 'family'; readonly asked: string; readonly families: string }
  | { readonly kind: 'not-in-pool'; readonly asked: string }
  | { readonly kind: 'not-served'; readonly pool: Pool; readonly asked: string | undefined }
  | { readonly kind: 'sharing'; readonly asked: string; readonly holder: LoadBalancer }
  | { readonly kind: 'port-clash'; readonly asked: string; readonly holder: LoadBalancer; readonly port: string }
  | { readonly kind: 'other-pool'; readonly asked: string; readonly wanted: string; readonly pool: Pool }
  | { readonly kind: 'unknown-pool'; readonly wanted: string }
  | { readonly kind: 'stale'; readonly annotation: string; readonly value: string }
  | { readonly kind: 'exhausted'; readonly pool: Pool }
  | { readonly kind: 'nobody-serves' }
  | { readonly kind: 'unexplained' }

export interface PendingService {
  readonly service: LoadBalancer
  readonly cause: PendingCause
}

/** Every pending Service with its cause; those that are merely young are left out. */
export function pendingCauses(patient: ClusterState): readonly PendingService[] {
  return patient.derive(pendingServices).flatMap((service) => {
    const cause = preferStaleAnnotation(findCause(service, patient), service, patient)
    if (cause.kind === 'unexplained' && isRecent(service, patient)) return []
    return [{ service, cause }]
  })
}

function isRecent(service: LoadBalancer, patient: ClusterState): boolean {
  if (allocationFailure(service, patient)) return false
  const age = ageMs(service.object.metadata.creationTimestamp, patient.now)
  return age < patient.context.grace.allocationMs
}

function findCause(service: LoadBalancer, patient: ClusterState): PendingCause {
  const { object, addresses, pool: wanted } = service
  const loadBalancerClass = getString(object, 'spec', 'loadBalancerClass')
  if (loadBalancerClass !== undefined) return { kind: 'other-class', loadBalancerClass }
  if (patient.derive(pools).length === 0) return { kind: 'no-pools' }
  if (getString(object, 'spec', 'loadBalancerIP') !== undefined && metallbAnnotation(object, 'loadBalancerIPs'))
    return { kind: 'two-wishes' }
  for (const asked of addresses) {
    const cause = causeForAddress(service, asked, patient)
    if (cause) return cause
  }
  if (addresses.length > 0) return { kind: 'unexplained' }
  return wanted ? causeForPool(service, wanted.value, patient) : causeForAutoAssign(service, patient)
}

function causeForAddress(service: LoadBalancer, asked: string, patient: ClusterState): PendingCause | undefined {
  const address = parseAddress(asked)
  if (!address) return { kind: 'no-address', asked }
  const families = serviceFamilies(service)
  if (families.length > 0 && !families.includes(`IPv${address.family}`))
    return { kind: 'family', asked, families: families.join(' and ') }
  const pool = findPoolByAddress(patient, asked)
  if (!pool) return { kind: 'not-in-pool', asked }
  if (!serves(pool, service.object)) return { kind: 'not-served', pool, asked }
  for (const holder of patient.derive(holdersByAddress).get(asked) ?? []) {
    if (holder.key === undefined || holder.key !== service.key) return { kind: 'sharing', asked, holder }
    const port = service.ports.find((port) => holder.ports.includes(port))
    if (port !== undefined) return { kind: 'port-clash', asked, holder, port }
  }
  const wanted = service.pool?.value
  return wanted !== undefined && wanted !== pool.name ? { kind: 'other-pool', asked, wanted, pool } : undefined
}

function serviceFamilies({ object }: LoadBalancer): readonly string[] {
  const families = (object['spec'] as { readonly ipFamilies?: unknown } | undefined)?.ipFamilies
  return Array.isArray(families) ? families.filter((family): family is string => typeof family === 'string') : []
}

function causeForPool(service: LoadBalancer, wanted: string, patient: ClusterState): PendingCause {
  const pool = findPool(patient, wanted)
  if (!pool) return { kind: 'unknown-pool', wanted }
  if (!serves(pool, service.object)) return { kind: 'not-served', pool, asked: undefined }
  return isFull(pool, service, patient) ? { kind: 'exhausted', pool } : { kind: 'unexplained' }
}

function causeForAutoAssign(service: LoadBalancer, patient: ClusterState): PendingCause {
  const open = patient.derive(pools).filter((pool) => pool.autoAssign && serves(pool, service.object))
  const [first] = open
  if (!first) return { kind: 'nobody-serves' }
  return open.every((pool) => isFull(pool, service, patient))
    ? { kind: 'exhausted', pool: first }
    : { kind: 'unexplained' }
}

/** Whether no address of the pool is free or may be shared with those who have it. */
function isFull(pool: Pool, service: LoadBalancer, patient: ClusterState): boolean {
  const taken = [...patient.derive(holdersByAddress)].filter(
    ([address]) => findPoolByAddress(patient, address) === pool,
  )
  const shareable = taken.some(([, all]) => all.every((holder) => canShare(holder, service)))
  return !shareable && BigInt(taken.length) >= poolSize(pool)
}

function canShare(holder: LoadBalancer, service: LoadBalancer): boolean {
  return (
    holder.key !== undefined && holder.key === service.key && !service.ports.some((port) => holder.ports.includes(port))
  )
}

/** Operators merge annotations and never take one away: what no control plane says any more still counts for MetalLB. */
function preferStaleAnnotation(cause: PendingCause, service: LoadBalancer, patient: ClusterState): PendingCause {
  const says = patient.derive(overrideAnnotations).get(service.namespace)
  if (!says) return cause
  const stale = (what: string, of: AnnotationValue | undefined): PendingCause | undefined => {
    const annotation = `metallb.universe.tf/${what}`
    return of?.deprecated && !says.has(`${annotation}=${of.value}`)
      ? { kind: 'stale', annotation, value: of.value }
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
