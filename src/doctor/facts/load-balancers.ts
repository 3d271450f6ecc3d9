/** LoadBalancer Services: what each asks of MetalLB, in which spelling, and what it got. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getList, getNumber, getString } from '../../api/raw-object.ts'
import { ingressAddresses, requestedAddresses } from '../../verify/readiness/load-balancer.ts'
import type { ObjectEvent } from '../../verify/readiness/object-events.ts'
import type { ClusterState } from '../cluster-state.ts'

export interface LoadBalancer {
  readonly object: KubeObject
  readonly namespace: string
  /** `Service openstack/keystone-internal` without the kind. */
  readonly name: string
  readonly pool: AnnotationValue | undefined
  readonly key: string | undefined
  readonly addresses: readonly string[]
  readonly given: readonly string[]
  readonly ports: readonly string[]
}

/** A wish, and whether only the deprecated spelling says it. */
export interface AnnotationValue {
  readonly value: string
  readonly deprecated: boolean
}

const STABLE_PREFIX = 'metallb.io/'
const DEPRECATED_PREFIX = 'metallb.universe.tf/'

export function metallbAnnotation({ metadata }: KubeObject, what: string): AnnotationValue | undefined {
  const { annotations = {} } = metadata
  // MetalLB lets the stable spelling win even when it is empty.
  const stable = annotations[STABLE_PREFIX + what]
  if (stable !== undefined) return stable === '' ? undefined : { value: stable, deprecated: false }
  const old = annotations[DEPRECATED_PREFIX + what]
  return old === undefined || old === '' ? undefined : { value: old, deprecated: true }
}

export function loadBalancers(patient: ClusterState): readonly LoadBalancer[] {
  return patient
    .all('Service')
    .filter((service) => getString(service, 'spec', 'type') === 'LoadBalancer')
    .map((object) => ({
      object,
      namespace: object.metadata.namespace ?? '',
      name: `${object.metadata.namespace}/${object.metadata.name}`,
      pool: metallbAnnotation(object, 'address-pool'),
      key: metallbAnnotation(object, 'allow-shared-ip')?.value,
      addresses: requestedAddresses(object),
      given: ingressAddresses(object),
      ports: getList(object, 'spec', 'ports').map(
        (port) => `${getString(port, 'protocol') ?? 'TCP'}/${getNumber(port, 'port') ?? '?'}`,
      ),
    }))
}

/** Those that wait for an address which MetalLB is to give. */
export function pendingServices(patient: ClusterState): readonly LoadBalancer[] {
  return patient.derive(loadBalancers).filter(
    ({ object, given }) =>
      given.length === 0 &&
      object.metadata.deletionTimestamp === undefined &&
      // An address by name is somebody else's, such as a cloud provider's.
      getList(object, 'status', 'loadBalancer', 'ingress').length === 0,
  )
}

/** Addresses with everybody who has them. */
export function holdersByAddress(patient: ClusterState): ReadonlyMap<string, readonly LoadBalancer[]> {
  const found = new Map<string, LoadBalancer[]>()
  for (const service of patient.derive(loadBalancers)) {
    for (const address of service.given) {
      const list = found.get(address)
      if (list) list.push(service)
      else found.set(address, [service])
    }
  }
  return found
}

const FAILURE_REASONS = ['AllocationFailed', 'PoolExhausted', 'LoadBalancerFailed', 'ClearAssignment']

/** MetalLB's own last word on why there is no address. */
export function allocationFailure(service: LoadBalancer, patient: ClusterState): ObjectEvent | undefined {
  return patient.eventsFor(service.object).find(({ reason }) => FAILURE_REASONS.includes(reason))
}

export function formatEvidence(said: ObjectEvent | undefined): readonly string[] {
  return said ? [`event ${said.reason}: ${said.message}`] : []
}

/** What control planes of a namespace say anywhere in their overrides: annotations that an operator would write today. */
export function overrideAnnotations(patient: ClusterState): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>()
  for (const object of patient.all('core.openstack.org/OpenStackControlPlane')) {
    const values = new Set<string>()
    collectAnnotations(object['spec'], values)
    found.set(object.metadata.namespace ?? '', values)
  }
  return found
}

function collectAnnotations(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const one of value) collectAnnotations(one, into)
    return
  }
  for (const [key, one] of Object.entries(asRecord(value))) {
    if (typeof one === 'string') {
      if (key.startsWith(STABLE_PREFIX) || key.startsWith(DEPRECATED_PREFIX)) into.add(`${key}=${one}`)
    } else collectAnnotations(one, into)
  }
}
