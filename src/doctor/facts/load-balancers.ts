/** Parses LoadBalancer Services: what each requests from MetalLB and which addresses it has. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getList, getNumber, getString } from '../../api/raw-object.ts'
import { ingressAddresses, requestedAddresses } from '../../verify/readiness/load-balancer.ts'
import type { ObjectEvent } from '../../verify/readiness/object-events.ts'
import type { ClusterState } from '../cluster-state.ts'

export interface LoadBalancer {
  readonly object: KubeObject
  readonly namespace: string
  /** `openstack/keystone-internal`. */
  readonly name: string
  readonly pool: AnnotationValue | undefined
  readonly key: string | undefined
  readonly addresses: readonly string[]
  readonly assigned: readonly string[]
  readonly ports: readonly string[]
}

/** The value of a MetalLB annotation, and whether only the deprecated prefix is set. */
export interface AnnotationValue {
  readonly value: string
  readonly deprecated: boolean
}

const STABLE_PREFIX = 'metallb.io/'
const DEPRECATED_PREFIX = 'metallb.universe.tf/'

export function metallbAnnotation({ metadata }: KubeObject, what: string): AnnotationValue | undefined {
  const { annotations = {} } = metadata
  // The stable prefix takes precedence in MetalLB, even with an empty value.
  const stable = annotations[STABLE_PREFIX + what]
  if (stable !== undefined) return stable === '' ? undefined : { value: stable, deprecated: false }
  const old = annotations[DEPRECATED_PREFIX + what]
  return old === undefined || old === '' ? undefined : { value: old, deprecated: true }
}

export function loadBalancers(cluster: ClusterState): readonly LoadBalancer[] {
  return cluster
    .all('Service')
    .filter((service) => getString(service, 'spec', 'type') === 'LoadBalancer')
    .map((object) => ({
      object,
      namespace: object.metadata.namespace ?? '',
      name: `${object.metadata.namespace}/${object.metadata.name}`,
      pool: metallbAnnotation(object, 'address-pool'),
      key: metallbAnnotation(object, 'allow-shared-ip')?.value,
      addresses: requestedAddresses(object),
      assigned: ingressAddresses(object),
      ports: getList(object, 'spec', 'ports').map(
        (port) => `${getString(port, 'protocol') ?? 'TCP'}/${getNumber(port, 'port') ?? '?'}`,
      ),
    }))
}

/** Services that wait for an address from MetalLB. */
export function pendingServices(cluster: ClusterState): readonly LoadBalancer[] {
  return cluster.derive(loadBalancers).filter(
    ({ object, assigned }) =>
      assigned.length === 0 &&
      object.metadata.deletionTimestamp === undefined &&
      // An ingress with a host name comes from another load balancer.
      getList(object, 'status', 'loadBalancer', 'ingress').length === 0,
  )
}

export function holdersByAddress(cluster: ClusterState): ReadonlyMap<string, readonly LoadBalancer[]> {
  const found = new Map<string, LoadBalancer[]>()
  for (const service of cluster.derive(loadBalancers)) {
    for (const address of service.assigned) {
      const list = found.get(address)
      if (list) list.push(service)
      else found.set(address, [service])
    }
  }
  return found
}

const FAILURE_REASONS = ['AllocationFailed', 'PoolExhausted', 'LoadBalancerFailed', 'ClearAssignment']

/** The latest event of MetalLB about a failed allocation. */
export function allocationFailure(service: LoadBalancer, cluster: ClusterState): ObjectEvent | undefined {
  return cluster.eventsFor(service.object).find(({ reason }) => FAILURE_REASONS.includes(reason))
}

export function formatEvidence(event: ObjectEvent | undefined): readonly string[] {
  return event ? [`event ${event.reason}: ${event.message}`] : []
}

/** MetalLB annotations in the overrides of the control planes, by namespace. */
export function overrideAnnotations(cluster: ClusterState): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>()
  for (const object of cluster.all('core.openstack.org/OpenStackControlPlane')) {
    const values = new Set<string>()
    collectAnnotations(object['spec'], values)
    found.set(object.metadata.namespace ?? '', values)
  }
  return found
}

function collectAnnotations(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const entry of value) collectAnnotations(entry, into)
    return
  }
  for (const [key, entry] of Object.entries(asRecord(value))) {
    if (typeof entry === 'string') {
      if (key.startsWith(STABLE_PREFIX) || key.startsWith(DEPRECATED_PREFIX)) into.add(`${key}=${entry}`)
    } else collectAnnotations(entry, into)
  }
}
