/** Readiness of Services: a LoadBalancer must have its planned address. Another address is a failure, because MetalLB keeps it. */
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getList, getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { latestEvent, type ObjectEvent } from './object-events.ts'
import { errorAgeMs, failed, progressing, type ReadinessContext, type ReadinessRule, ready } from './verdict.ts'

export const serviceReadiness: ReadinessRule = (service, context) => {
  const { around, grace, planned } = context
  if (getString(service, 'spec', 'type') !== 'LoadBalancer') return ready
  const assigned = ingressAddresses(service)
  const describe = `kubectl -n ${service.metadata.namespace} describe service ${service.metadata.name}`
  if (assigned.length === 0) {
    const event = currentFailure(service, around)
    if (event && errorAgeMs(event.first, context) >= grace.allocationMs)
      return failed(`${formatObjectName(service)} has no address: ${event.message}`, describe)
    return progressing(`${formatObjectName(service)} to get its address${event ? `: ${event.message}` : ''}`)
  }
  const asked = requestedAddresses(service)
  const missing = asked.filter((address) => !assigned.includes(address))
  if (missing.length > 0)
    return failed(`${formatObjectName(service)} has ${assigned.join(', ')} instead of ${missing.join(', ')}`, describe)
  const plannedAddresses = planned?.(service.metadata.namespace ?? '')
  const foreign = plannedAddresses ? assigned.filter((address) => !plannedAddresses.has(address)) : []
  return foreign.length === 0
    ? ready
    : failed(`${formatObjectName(service)} has ${foreign.join(', ')}, which is not planned for this cloud`, describe)
}

/** MetalLB reports a failure again when pools change, so an event from before the pool was created says nothing about it. */
function currentFailure(service: KubeObject, around: ReadinessContext['around']): ObjectEvent | undefined {
  const event = latestEvent(service, ['AllocationFailed', 'PoolExhausted', 'LoadBalancerFailed'], around)
  const { annotations = {} } = service.metadata
  const name = annotations['metallb.io/address-pool'] ?? annotations['metallb.universe.tf/address-pool']
  const pool = around.all('metallb.io/IPAddressPool').find(({ metadata }) => metadata.name === name)
  const created = Date.parse(pool?.metadata.creationTimestamp ?? '')
  return event && Date.parse(event.last ?? '') < created ? undefined : event
}

export function ingressAddresses(service: KubeObject): readonly string[] {
  return getList(service, 'status', 'loadBalancer', 'ingress').flatMap((ingress) => getString(ingress, 'ip') ?? [])
}

/** Requested addresses; the stable annotation takes precedence, as in MetalLB. */
export function requestedAddresses(service: KubeObject): readonly string[] {
  const { annotations = {} } = service.metadata
  const asked =
    annotations['metallb.io/loadBalancerIPs'] ??
    annotations['metallb.universe.tf/loadBalancerIPs'] ??
    getString(service, 'spec', 'loadBalancerIP') ??
    ''
  return asked
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
}

/** Whether a Service has ready endpoints. */
export function hasEndpoints(around: SnapshotIndex, namespace: string, name: string): boolean {
  const slices = around
    .all('discovery.k8s.io/EndpointSlice')
    .filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
    )
  const answering = slices.some((slice) =>
    getList(slice, 'endpoints').some(
      (endpoint) =>
        getList(endpoint, 'addresses').length > 0 &&
        (endpoint as { conditions?: { ready?: boolean } }).conditions?.ready !== false,
    ),
  )
  const old = around.get('Endpoints', name, namespace)
  return answering || getList(old, 'subsets').some((subset) => getList(subset, 'addresses').length > 0)
}
