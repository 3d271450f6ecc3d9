/** SL3xxx: rendering. SL30xx: services and slots; SL31xx: what the site overrides; SL32xx: the documents themselves. */
import { problem } from './finding.ts'

const known = (near: string | undefined): string => (near ? `; did you mean ${near}?` : '')

export const unknownService = problem<{ cloud: string; service: string; nearest: string | undefined }>({
  code: 'SL3001',
  severity: 'error',
  title: 'The site names a service that Stackloom does not know',
  message: ({ cloud, service, nearest }) => `${cloud}: there is no service ${service}${known(nearest)}`,
  remedy: () => 'list the known services with `stackloom slots`, and correct the name or remove it',
  story: `The names under a cloud's \`services\` are those of the control plane: keystone, nova, glance, and so on.
A name that is none of them would be left out without a word; so it is refused.`,
  example: { cloud: 'rhoso1', service: 'glence', nearest: 'glance' },
})

export const serviceNotInCrd = problem<{ cloud: string; service: string }>({
  code: 'SL3002',
  severity: 'error',
  title: 'The control plane of this version has no such service',
  message: ({ cloud, service }) => `${cloud}: the control plane's CRD has no service ${service}`,
  remedy: ({ service }) =>
    `turn ${service} off, or plan against a newer CRD: \`stackloom plan --crd live\` or \`--crd FILE\``,
  story: `The API server drops or refuses fields that the CRD does not have. Services came with time: watcher and
cloudkitty are younger than many clusters, and the CRD of 2023 knows neither octavia nor designate.`,
  example: { cloud: 'rhoso1', service: 'watcher' },
})

export const slotMissing = problem<{ cloud: string; slot: string; at: string }>({
  code: 'SL3003',
  severity: 'error',
  title: 'The CRD has no slot for a Service that the cloud needs',
  message: ({ cloud, slot, at }) =>
    `${cloud}: ${slot} needs a Service override, but the CRD has none at spec.${at}`,
  remedy: () =>
    'turn the service off, or plan against the CRD of the operator that will run: `stackloom plan --crd live`',
  story: `Each API that compute nodes must reach gets a LoadBalancer Service with a planned address. The address is
written into a slot of the OpenStackControlPlane; without the slot the operator would make a ClusterIP Service that
no host outside the cluster can reach.`,
  example: { cloud: 'rhoso1', slot: 'swift.internal', at: 'swift.template.swiftProxy' },
})

export const slotWithoutVips = problem<{ cloud: string; slot: string; network: string }>({
  code: 'SL3004',
  severity: 'error',
  title: 'A Service is to be reached on a network without VIPs',
  message: ({ cloud, slot, network }) =>
    `${cloud}: ${slot} belongs on ${network}, which has no addresses for VIPs`,
  remedy: ({ network }) => `give ${network} a \`vips\` span, or move the service to a network that has one`,
  story: `MetalLB can give an address only from a pool, and a network has a pool only if it has a \`vips\` span.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', network: 'storagemgmt' },
})

export const routeWithoutOpenShift = problem<{ cloud: string; service: string }>({
  code: 'SL3005',
  severity: 'error',
  title: 'Routes exist on OpenShift only',
  message: ({ cloud, service }) =>
    `${cloud}: the public endpoint of ${service} is to be a Route, but this is plain Kubernetes`,
  remedy: () => 'set `public: {by: vip, network: …}` for the cloud',
  story: `A public endpoint is reached through a Route on OpenShift, or through a VIP of its own. Plain Kubernetes has no
Routes, so without a VIP nobody outside the cluster would reach it.`,
  example: { cloud: 'rhoso1', service: 'keystone' },
})

export const publicByVip = problem<{ cloud: string; network: string }>({
  code: 'SL3006',
  severity: 'info',
  title: 'Public endpoints become VIPs on plain Kubernetes',
  message: ({ cloud, network }) =>
    `${cloud}: public endpoints get VIPs on ${network}, since plain Kubernetes has no Routes`,
  remedy: () => 'set `public: {by: vip, network: …}` to choose the network yourself',
  story: `On OpenShift the public endpoint of an API is a Route. On plain Kubernetes it must be a LoadBalancer Service,
so that each cloud takes an address more.`,
  example: { cloud: 'rhoso1', network: 'ctlplane' },
})

export const neededServiceOff = problem<{ cloud: string; service: string; need: string }>({
  code: 'SL3007',
  severity: 'error',
  title: 'A service is on while one that it needs is off',
  message: ({ cloud, service, need }) =>
    `${cloud}: ${service} does not work without ${need}, which is turned off`,
  remedy: ({ service, need }) => `turn ${need} on, or ${service} off`,
  story: `The operator would wait for ever for the service that is missing, and report it only as a condition that
never becomes true.`,
  example: { cloud: 'rhoso1', service: 'nova', need: 'placement' },
})

export const notAControlPlaneCrd = problem<{ source: string; reason: string }>({
  code: 'SL3008',
  severity: 'error',
  title: 'A file is not the CRD of the control plane',
  message: ({ source, reason }) => `${source} cannot tell the control plane's slots: ${reason}`,
  remedy: () =>
    'give the CustomResourceDefinition openstackcontrolplanes.core.openstack.org, or `--crd live` to read it from the cluster',
  story: `Slots are read from the OpenAPI schema of the CRD of OpenStackControlPlane. Any other file has none.`,
  example: { source: 'crd.yaml', reason: 'it is not a CustomResourceDefinition' },
})

export const switchedTwice = problem<{ cloud: string; service: string; enabled: boolean }>({
  code: 'SL3009',
  severity: 'error',
  title: 'An override switches a service against the plan',
  message: ({ cloud, service, enabled }) =>
    `${cloud}: overrides.controlPlane turns ${service} ${enabled ? 'on' : 'off'}, the plan has it ${enabled ? 'off' : 'on'}`,
  remedy: ({ service, enabled }) =>
    `write \`services: {${service}: ${enabled}}\` instead, so that its addresses are planned`,
  story: `Overrides are merged last, after addresses were given out. A service that is switched there has no VIP, or
holds one for nothing.`,
  example: { cloud: 'rhoso1', service: 'swift', enabled: true },
})
