/**
 * Why a Service has no address: MetalLB's own decision, taken again on what was gathered, in MetalLB's order.
 *
 * One cause for each Service, so that the rules about pending Services never speak twice.
 */

import { sinceMs, textAt } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import type { Patient } from '../patient.ts'
import { type Balanced, holders, overridesIn, pending, refusalOf, type Wish, wish } from './load-balancers.ts'
import { type Pool, poolNamed, poolOfAddress, pools, serves, sizeOfPool } from './pools.ts'

export type PendingCause =
  | { readonly kind: 'other-class'; readonly loadBalancerClass: string }
  | { readonly kind: 'no-pools' }
  | { readonly kind: 'two-wishes' }
  | { readonly kind: 'no-address'; readonly asked: string }
  | { readonly kind: 'family'; readonly asked: string; readonly families: string }
  | { readonly kind: 'not-in-pool'; readonly asked: string }
  | { readonly kind: 'not-served'; readonly pool: Pool; readonly asked: string | undefined }
  | { readonly kind: 'sharing'; readonly asked: string; readonly holder: Balanced }
  | { readonly kind: 'port-clash'; readonly asked: string; readonly holder: Balanced; readonly port: string }
  | { readonly kind: 'other-pool'; readonly asked: string; readonly wanted: string; readonly pool: Pool }
  | { readonly kind: 'unknown-pool'; readonly wanted: string }
  | { readonly kind: 'stale'; readonly annotation: string; readonly value: string }
  | { readonly kind: 'exhausted'; readonly pool: Pool }
  | { readonly kind: 'nobody-serves' }
  | { readonly kind: 'unexplained' }

export interface Pending {
  readonly service: Balanced
  readonly cause: PendingCause
}

/** Every pending Service with its cause; those that are merely young are left out. */
export function pendingCauses(patient: Patient): readonly Pending[] {
  return patient.derive(pending).flatMap((service) => {
    const cause = staleOr(causeOf(service, patient), service, patient)
    if (cause.kind === 'unexplained' && isYoung(service, patient)) return []
    return [{ service, cause }]
  })
}

function isYoung(service: Balanced, patient: Patient): boolean {
  if (refusalOf(service, patient)) return false
  const age = sinceMs(service.object.metadata.creationTimestamp, patient.now)
  return age < patient.context.grace.allocationMs
}

function causeOf(service: Balanced, patient: Patient): PendingCause {
  const { object, addresses, pool: wanted } = service
  const loadBalancerClass = textAt(object, 'spec', 'loadBalancerClass')
  if (loadBalancerClass !== undefined) return { kind: 'other-class', loadBalancerClass }
  if (patient.derive(pools).length === 0) return { kind: 'no-pools' }
  if (textAt(object, 'spec', 'loadBalancerIP') !== undefined && wish(object, 'loadBalancerIPs'))
    return { kind: 'two-wishes' }
  for (const asked of addresses) {
    const cause = causeForAddress(service, asked, patient)
    if (cause) return cause
  }
  if (addresses.length > 0) return { kind: 'unexplained' }
  return wanted ? causeForPool(service, wanted.value, patient) : causeWithoutWish(service, patient)
}

function causeForAddress(service: Balanced, asked: string, patient: Patient): PendingCause | undefined {
  const address = parseAddress(asked)
  if (!address) return { kind: 'no-address', asked }
  const families = familiesOf(service)
  if (families.length > 0 && !families.includes(`IPv${address.family}`))
    return { kind: 'family', asked, families: families.join(' and ') }
  const pool = poolOfAddress(patient, asked)
  if (!pool) return { kind: 'not-in-pool', asked }
  if (!serves(pool, service.object)) return { kind: 'not-served', pool, asked }
  for (const holder of patient.derive(holders).get(asked) ?? []) {
    if (holder.key === undefined || holder.key !== service.key) return { kind: 'sharing', asked, holder }
    const port = service.ports.find((one) => holder.ports.includes(one))
    if (port !== undefined) return { kind: 'port-clash', asked, holder, port }
  }
  const wanted = service.pool?.value
  return wanted !== undefined && wanted !== pool.name
    ? { kind: 'other-pool', asked, wanted, pool }
    : undefined
}

function familiesOf({ object }: Balanced): readonly string[] {
  const families = (object['spec'] as { readonly ipFamilies?: unknown } | undefined)?.ipFamilies
  return Array.isArray(families) ? families.filter((one): one is string => typeof one === 'string') : []
}

function causeForPool(service: Balanced, wanted: string, patient: Patient): PendingCause {
  const pool = poolNamed(patient, wanted)
  if (!pool) return { kind: 'unknown-pool', wanted }
  if (!serves(pool, service.object)) return { kind: 'not-served', pool, asked: undefined }
  return isFull(pool, service, patient) ? { kind: 'exhausted', pool } : { kind: 'unexplained' }
}

function causeWithoutWish(service: Balanced, patient: Patient): PendingCause {
  const open = patient.derive(pools).filter((pool) => pool.autoAssign && serves(pool, service.object))
  const [first] = open
  if (!first) return { kind: 'nobody-serves' }
  return open.every((pool) => isFull(pool, service, patient))
    ? { kind: 'exhausted', pool: first }
    : { kind: 'unexplained' }
}

/** Whether no address of the pool is free or may be shared with those who have it. */
function isFull(pool: Pool, service: Balanced, patient: Patient): boolean {
  const taken = [...patient.derive(holders)].filter(([address]) => poolOfAddress(patient, address) === pool)
  const shareable = taken.some(([, all]) => all.every((holder) => mayShare(holder, service)))
  return !shareable && BigInt(taken.length) >= sizeOfPool(pool)
}

function mayShare(holder: Balanced, service: Balanced): boolean {
  return (
    holder.key !== undefined &&
    holder.key === service.key &&
    !service.ports.some((port) => holder.ports.includes(port))
  )
}

/** Operators merge annotations and never take one away: what no control plane says any more still counts for MetalLB. */
function staleOr(cause: PendingCause, service: Balanced, patient: Patient): PendingCause {
  const says = patient.derive(overridesIn).get(service.namespace)
  if (!says) return cause
  const stale = (what: string, of: Wish | undefined): PendingCause | undefined => {
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
          : stale('loadBalancerIPs', wish(service.object, 'loadBalancerIPs'))) ?? cause
      )
    case 'not-in-pool':
    case 'sharing':
    case 'port-clash':
      return stale('loadBalancerIPs', wish(service.object, 'loadBalancerIPs')) ?? cause
    case 'other-pool':
      return (
        stale('address-pool', service.pool) ??
        stale('loadBalancerIPs', wish(service.object, 'loadBalancerIPs')) ??
        cause
      )
    default:
      return cause
  }
}
