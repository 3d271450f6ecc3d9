/**
 * Services: a LoadBalancer is ready when it has its own planned address, and no other one.
 *
 * An address that is not the planned one is a failure at once: nothing will move it.
 */
import type { KubeObject } from '../../api/object.ts'
import { listAt, nameOf, sinceMs, textAt } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { lastSaid } from './events.ts'
import { failed, progressing, type ReadinessRule, ready } from './verdict.ts'

export const serviceReadiness: ReadinessRule = (service, { around, now, grace, planned }) => {
  if (textAt(service, 'spec', 'type') !== 'LoadBalancer') return ready
  const given = ingressOf(service)
  const describe = `kubectl -n ${service.metadata.namespace} describe service ${service.metadata.name}`
  if (given.length === 0) {
    const said = lastSaid(service, ['AllocationFailed', 'PoolExhausted', 'LoadBalancerFailed'], around)
    if (said && sinceMs(said.first, now) >= grace.allocationMs)
      return failed(`${nameOf(service)} has no address: ${said.message}`, describe)
    return progressing(`${nameOf(service)} to get its address${said ? `: ${said.message}` : ''}`)
  }
  const asked = askedAddresses(service)
  const missing = asked.filter((address) => !given.includes(address))
  if (missing.length > 0)
    return failed(`${nameOf(service)} has ${given.join(', ')} instead of ${missing.join(', ')}`, describe)
  const ours = planned?.(service.metadata.namespace ?? '')
  const foreign = ours ? given.filter((address) => !ours.has(address)) : []
  return foreign.length === 0
    ? ready
    : failed(`${nameOf(service)} has ${foreign.join(', ')}, which is not planned for this cloud`, describe)
}

export function ingressOf(service: KubeObject): readonly string[] {
  return listAt(service, 'status', 'loadBalancer', 'ingress').flatMap((one) => textAt(one, 'ip') ?? [])
}

/** What the Service asks MetalLB for; the newer spelling wins, as it does there. */
export function askedAddresses(service: KubeObject): readonly string[] {
  const { annotations = {} } = service.metadata
  const asked =
    annotations['metallb.io/loadBalancerIPs'] ??
    annotations['metallb.universe.tf/loadBalancerIPs'] ??
    textAt(service, 'spec', 'loadBalancerIP') ??
    ''
  return asked
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
}

/** Whether somebody answers behind a Service. */
export function hasEndpoints(around: SnapshotIndex, namespace: string, name: string): boolean {
  const slices = around
    .all('discovery.k8s.io/EndpointSlice')
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
    )
  const answering = slices.some((slice) =>
    listAt(slice, 'endpoints').some(
      (endpoint) =>
        listAt(endpoint, 'addresses').length > 0 &&
        (endpoint as { conditions?: { ready?: boolean } }).conditions?.ready !== false,
    ),
  )
  const old = around.get('Endpoints', name, namespace)
  return answering || listAt(old, 'subsets').some((subset) => listAt(subset, 'addresses').length > 0)
}
