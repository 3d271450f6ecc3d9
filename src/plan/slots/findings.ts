/** SL30xx: services and slots of the control plane. SL3101: raw fields. The other codes of SL3 are in `render/findings.ts`. */
import { problem } from '../../errors/finding.ts'

const suggest = (near: string | undefined): string => (near ? `; did you mean ${near}?` : '')

export const unknownService = problem<{ cloud: string; service: string; nearest: string | undefined }>({
  code: 'SL3001',
  severity: 'error',
  title: 'The site names a service that Stackloom does not know',
  message: ({ cloud, service, nearest }) => `${cloud}: there is no service ${service}${suggest(nearest)}`,
  remedy: () => 'list the known services with `stackloom slots`, and correct the name or remove it',
  description: `The names under a cloud's \`services\` are those of the control plane: keystone, nova, glance, and so on.
An unknown name would be ignored silently, so it is refused.`,
  example: { cloud: 'rhoso1', service: 'glence', nearest: 'glance' },
})

export const serviceNotInCrd = problem<{ cloud: string; service: string }>({
  code: 'SL3002',
  severity: 'error',
  title: 'The control plane of this version has no such service',
  message: ({ cloud, service }) => `${cloud}: the control plane's CRD has no service ${service}`,
  remedy: ({ service }) =>
    `disable ${service}, or plan against a newer CRD: \`stackloom plan --crd live\` or \`--crd FILE\``,
  description: `The API server drops or refuses fields that the CRD does not have. Services were added over time: watcher and
cloudkitty are newer than many clusters, and the CRD of 2023 has neither octavia nor designate.`,
  example: { cloud: 'rhoso1', service: 'watcher' },
})

export const slotMissing = problem<{ cloud: string; slot: string; path: string }>({
  code: 'SL3003',
  severity: 'error',
  title: 'The CRD has no slot for a Service that the cloud needs',
  message: ({ cloud, slot, path }) =>
    `${cloud}: ${slot} needs a Service override, but the CRD has none at spec.${path}`,
  remedy: () =>
    'disable the service, or plan against the CRD of the operator that will run: `stackloom plan --crd live`',
  description: `Each API that compute nodes must reach gets a LoadBalancer Service with a planned address. The address is
written into a slot of the OpenStackControlPlane; without the slot the operator would create a ClusterIP Service
that no host outside the cluster can reach.`,
  example: { cloud: 'rhoso1', slot: 'swift.internal', path: 'swift.template.swiftProxy' },
})

export const slotWithoutVips = problem<{ cloud: string; slot: string; network: string }>({
  code: 'SL3004',
  severity: 'error',
  title: 'A Service is planned on a network without VIPs',
  message: ({ cloud, slot, network }) => `${cloud}: ${slot} belongs on ${network}, which has no addresses for VIPs`,
  remedy: ({ network }) => `give ${network} a \`vips\` span, or move the service to a network that has one`,
  description: `MetalLB assigns addresses only from a pool, and a network has a pool only if it has a \`vips\` span.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', network: 'storagemgmt' },
})

export const routeWithoutOpenShift = problem<{ cloud: string; service: string }>({
  code: 'SL3005',
  severity: 'error',
  title: 'Routes exist on OpenShift only',
  message: ({ cloud, service }) =>
    `${cloud}: the public endpoint of ${service} is planned as a Route, but this is plain Kubernetes`,
  remedy: () => 'set `public: {by: vip, network: …}` for the cloud',
  description: `A public endpoint is reached through a Route on OpenShift, or through a VIP of its own. Plain Kubernetes has no
Routes, so without a VIP the endpoint cannot be reached from outside the cluster.`,
  example: { cloud: 'rhoso1', service: 'keystone' },
})

export const publicByVip = problem<{ cloud: string; network: string }>({
  code: 'SL3006',
  severity: 'info',
  title: 'Public endpoints become VIPs on plain Kubernetes',
  message: ({ cloud, network }) =>
    `${cloud}: public endpoints get VIPs on ${network}, since plain Kubernetes has no Routes`,
  remedy: () => 'set `public: {by: vip, network: …}` to choose the network yourself',
  description: `On OpenShift the public endpoint of an API is a Route. On plain Kubernetes it must be a LoadBalancer Service,
so each cloud needs one more address.`,
  example: { cloud: 'rhoso1', network: 'ctlplane' },
})

export const neededServiceOff = problem<{ cloud: string; service: string; need: string }>({
  code: 'SL3007',
  severity: 'error',
  title: 'A service is enabled while one that it needs is disabled',
  message: ({ cloud, service, need }) => `${cloud}: ${service} does not work without ${need}, which is disabled`,
  remedy: ({ service, need }) => `enable ${need}, or disable ${service}`,
  description: `The operator would wait forever for the missing service, and report it only as a condition that never
becomes true.`,
  example: { cloud: 'rhoso1', service: 'nova', need: 'placement' },
})

export const notAControlPlaneCrd = problem<{ source: string; reason: string }>({
  code: 'SL3008',
  severity: 'error',
  title: 'A file is not the CRD of the control plane',
  message: ({ source, reason }) => `${source} does not define the control plane's slots: ${reason}`,
  remedy: () =>
    'use the CustomResourceDefinition openstackcontrolplanes.core.openstack.org, or `--crd live` to read it from the cluster',
  description: `Slots are read from the OpenAPI schema of the CRD of OpenStackControlPlane. Any other file has none.`,
  example: { source: 'crd.yaml', reason: 'it is not a CustomResourceDefinition' },
})

export const serviceSwitchedByOverride = problem<{ cloud: string; service: string; enabled: boolean }>({
  code: 'SL3009',
  severity: 'error',
  title: 'An override enables or disables a service against the plan',
  message: ({ cloud, service, enabled }) =>
    `${cloud}: overrides.controlPlane ${enabled ? 'enables' : 'disables'} ${service}, the plan has it ${enabled ? 'disabled' : 'enabled'}`,
  remedy: ({ service, enabled }) =>
    `write \`services: {${service}: ${enabled}}\` instead, so that its addresses are planned`,
  description: `Overrides are merged last, after addresses were assigned. A service that is enabled there has no VIP, and
one that is disabled there keeps an unused VIP.`,
  example: { cloud: 'rhoso1', service: 'swift', enabled: true },
})

export const unknownRawField = problem<{ cloud: string; field: string; nearest: string | undefined }>({
  code: 'SL3101',
  severity: 'error',
  title: 'The control plane has no such raw field',
  message: ({ cloud, field, nearest }) => `${cloud}: the control plane has no field ${field}${suggest(nearest)}`,
  remedy: ({ nearest }) => (nearest ? `write ${nearest}` : 'remove the field, or plan against the CRD that has it'),
  description: `Raw fields are copied into the OpenStackControlPlane. An API server without strict validation drops a name
that it does not know, and the setting is lost silently: \`networkAttachents\` leaves a pod off its network.`,
  example: {
    cloud: 'rhoso1',
    field: 'spec.glance.template.networkAttachents',
    nearest: 'networkAttachments',
  },
})
