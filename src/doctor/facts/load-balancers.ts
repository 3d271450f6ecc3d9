/** LoadBalancer Services: what each asks of MetalLB, in which spelling, and what it got. */
import type { KubeObject } from '../../api/object.ts'
import { listAt, numberAt, textAt } from '../../api/raw-object.ts'
import type { Said } from '../../verify/readiness/events.ts'
import { askedAddresses, ingressOf } from '../../verify/readiness/services.ts'
import { recordOf } from '../../yaml/loose.ts'
import type { Patient } from '../patient.ts'

export interface Balanced {
  readonly object: KubeObject
  readonly namespace: string
  /** `Service openstack/keystone-internal` without the kind. */
  readonly name: string
  readonly pool: Wish | undefined
  readonly key: string | undefined
  readonly addresses: readonly string[]
  readonly given: readonly string[]
  readonly ports: readonly string[]
}

/** A wish, and whether only the deprecated spelling says it. */
export interface Wish {
  readonly value: string
  readonly deprecated: boolean
}

const NEW = 'metallb.io/'
const OLD = 'metallb.universe.tf/'

export function wish({ metadata }: KubeObject, what: string): Wish | undefined {
  const { annotations = {} } = metadata
  // MetalLB lets the stable spelling win even when it is empty.
  const stable = annotations[NEW + what]
  if (stable !== undefined) return stable === '' ? undefined : { value: stable, deprecated: false }
  const old = annotations[OLD + what]
  return old === undefined || old === '' ? undefined : { value: old, deprecated: true }
}

export function balanced(patient: Patient): readonly Balanced[] {
  return patient
    .all('Service')
    .filter((service) => textAt(service, 'spec', 'type') === 'LoadBalancer')
    .map((object) => ({
      object,
      namespace: object.metadata.namespace ?? '',
      name: `${object.metadata.namespace}/${object.metadata.name}`,
      pool: wish(object, 'address-pool'),
      key: wish(object, 'allow-shared-ip')?.value,
      addresses: askedAddresses(object),
      given: ingressOf(object),
      ports: listAt(object, 'spec', 'ports').map(
        (port) => `${textAt(port, 'protocol') ?? 'TCP'}/${numberAt(port, 'port') ?? '?'}`,
      ),
    }))
}

/** Those that wait for an address which MetalLB is to give. */
export function pending(patient: Patient): readonly Balanced[] {
  return patient.derive(balanced).filter(
    ({ object, given }) =>
      given.length === 0 &&
      object.metadata.deletionTimestamp === undefined &&
      // An address by name is somebody else's, such as a cloud provider's.
      listAt(object, 'status', 'loadBalancer', 'ingress').length === 0,
  )
}

/** Addresses with everybody who has them. */
export function holders(patient: Patient): ReadonlyMap<string, readonly Balanced[]> {
  const found = new Map<string, Balanced[]>()
  for (const service of patient.derive(balanced)) {
    for (const address of service.given) {
      const list = found.get(address)
      if (list) list.push(service)
      else found.set(address, [service])
    }
  }
  return found
}

const REFUSALS = ['AllocationFailed', 'PoolExhausted', 'LoadBalancerFailed', 'ClearAssignment']

/** MetalLB's own last word on why there is no address. */
export function refusalOf(service: Balanced, patient: Patient): Said | undefined {
  return patient.said(service.object).find(({ reason }) => REFUSALS.includes(reason))
}

export function quoted(said: Said | undefined): readonly string[] {
  return said ? [`event ${said.reason}: ${said.message}`] : []
}

/** What control planes of a namespace say anywhere in their overrides: annotations that an operator would write today. */
export function overridesIn(patient: Patient): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>()
  for (const object of patient.all('core.openstack.org/OpenStackControlPlane')) {
    const values = new Set<string>()
    collect(object['spec'], values)
    found.set(object.metadata.namespace ?? '', values)
  }
  return found
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const one of value) collect(one, into)
    return
  }
  for (const [key, one] of Object.entries(recordOf(value))) {
    if (typeof one === 'string') {
      if (key.startsWith(NEW) || key.startsWith(OLD)) into.add(`${key}=${one}`)
    } else collect(one, into)
  }
}
