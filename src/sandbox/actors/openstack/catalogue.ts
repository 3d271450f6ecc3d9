/**
 * Builds the KeystoneEndpoint of each service and, on OpenShift, a Route for each public Service without its own address.
 * Follows `CreateRoute` of openstack-operator and `NewKeystoneEndpoint` of the service operators. Keystone registers itself.
 */
import type { KubeObject } from '../../../api/object.ts'
import { serviceForSlot } from './service-names.ts'
import type { OverrideSlot } from './spec-schema.ts'

export const ENDPOINT = { apiVersion: 'keystone.openstack.org/v1beta1', kind: 'KeystoneEndpoint' }
export const ROUTE = { apiVersion: 'route.openshift.io/v1', kind: 'Route' }

/** By the path of the slot: the endpoint name if it differs from the Service name, and the suffix of its URLs. */
const registrations: Readonly<Record<string, { readonly name?: string; readonly path?: string }>> = {
  'barbican.template.barbicanAPI': {},
  'cinder.template.cinderAPI': { name: 'cinderv3', path: '/v3' },
  'designate.template.designateAPI': {},
  'glance.template.glanceAPIs': {},
  'heat.template.heatAPI': { path: '/v1/%(tenant_id)s' },
  'heat.template.heatCfnAPI': { path: '/v1' },
  'ironic.template.ironicAPI': {},
  'ironic.template.ironicInspector': {},
  'manila.template.manilaAPI': { name: 'manilav2', path: '/v2' },
  'neutron.template': {},
  'nova.template.apiServiceTemplate': { path: '/v2.1' },
  'octavia.template.octaviaAPI': {},
  'placement.template': {},
  'swift.template.swiftProxy': { path: '/v1/AUTH_%(tenant_id)s' },
  'telemetry.template.autoscaling.aodh': {},
  'watcher.template.apiServiceTemplate': {},
}

export interface Catalogue {
  readonly routes: readonly KubeObject[]
  readonly endpoints: readonly KubeObject[]
}

/** `domain` is the domain of Routes, if the cluster has Routes. */
export function buildCatalogue(
  slots: readonly OverrideSlot[],
  namespace: string,
  services: readonly KubeObject[],
  domain: string | undefined,
): Catalogue {
  const live = new Map(services.map((service) => [service.metadata.name, service]))
  const routes = new Map<string, KubeObject>()
  const endpoints = new Map<string, { readonly service: string; readonly urls: Record<string, string> }>()
  for (const slot of slots) {
    const service = serviceForSlot(slot)
    const found = service && live.get(service.name)
    if (!found) continue
    const byRoute = domain !== undefined && isPublic(slot) && !isLoadBalancer(found)
    const host = byRoute
      ? `${service.name}-${namespace}.${domain}`
      : `${service.name}.${namespace}.svc:${service.ports[0]}`
    if (byRoute) routes.set(service.name, renderRoute(service.name, namespace, host))
    const entry = findRegistration(slot)
    if (!entry || slot.endpoint === undefined) continue
    const base = service.name.replace(/-(internal|public)$/, '')
    const name = entry.name ?? base
    const registered = endpoints.get(name) ?? { service: slot.path[0] ?? '', urls: {} }
    registered.urls[slot.endpoint] = `https://${host}${entry.path ?? ''}`
    endpoints.set(name, registered)
  }
  return {
    routes: [...routes.values()],
    endpoints: [...endpoints].map(([name, { service, urls }]) => ({
      ...ENDPOINT,
      metadata: { name, namespace, labels: { service } },
      spec: { serviceName: service, endpoints: urls },
    })),
  }
}

function isPublic({ endpoint, path }: OverrideSlot): boolean {
  return endpoint === 'public' || path[0] === 'horizon' || path.includes('noVNCProxyServiceTemplate')
}

function isLoadBalancer(service: KubeObject): boolean {
  return (service['spec'] as { readonly type?: string }).type === 'LoadBalancer'
}

function findRegistration({ path }: OverrideSlot) {
  const [all, shorter] = [path.join('.'), path.slice(0, -1).join('.')]
  return registrations[all] ?? registrations[shorter]
}

function renderRoute(service: string, namespace: string, host: string): KubeObject {
  return {
    ...ROUTE,
    metadata: { name: service, namespace, labels: { service: service.split('-')[0] ?? '', public: 'true' } },
    spec: {
      host,
      to: { kind: 'Service', name: service, weight: 100 },
      port: { targetPort: service },
      tls: { termination: 'reencrypt', insecureEdgeTerminationPolicy: 'Redirect' },
      wildcardPolicy: 'None',
    },
  }
}
