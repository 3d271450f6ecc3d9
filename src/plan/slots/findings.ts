/** SL3xxx: rendering. SL30xx: services and slots; SL31xx: what the site overrides; SL32xx: the documents themselves. */
import { problem } from '../../errors/finding.ts'

const known = (near: string | undefined): string => (near ? `; did you mean ${near}?` : '')

export const unknownService = problem<{ cloud: string; service: string; nearest: string | undefined }>({
  code: 'SL3001',
  severity: 'error',
  title: 'The site names a service that Stackloom does not know',
  message: ({ cloud, service, nearest }) => `${cloud}: there is no service ${service}${known(nearest)}`,
  remedy: () => 'list the known services with `stackloom slots`, and correct the name or remove it',
  description: `The names under a cloud's \`services\` are those of the control plane: keystone, nova, glance, and so on.
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
  description: `The API server drops or refuses fields that the CRD does not have. Services came with time: watcher and
cloudkitty are younger than many clusters, and the CRD of 2023 knows neither octavia nor designate.`,
  example: { cloud: 'rhoso1', service: 'watcher' },
})

export const slotMissing = problem<{ cloud: string; slot: string; at: string }>({
  code: 'SL3003',
  severity: 'error',
  title: 'The CRD has no slot for a Service that the cloud needs',
  message: ({ cloud, slot, at }) => `${cloud}: ${slot} needs a Service override, but the CRD has none at spec.${at}`,
  remedy: () =>
    'turn the service off, or plan against the CRD of the operator that will run: `stackloom plan --crd live`',
  description: `Each API that compute nodes must reach gets a LoadBalancer Service with a planned address. The address is
written into a slot of the OpenStackControlPlane; without the slot the operator would make a ClusterIP Service that
no host outside the cluster can reach.`,
  example: { cloud: 'rhoso1', slot: 'swift.internal', at: 'swift.template.swiftProxy' },
})

export const slotWithoutVips = problem<{ cloud: string; slot: string; network: string }>({
  code: 'SL3004',
  severity: 'error',
  title: 'A Service is to be reached on a network without VIPs',
  message: ({ cloud, slot, network }) => `${cloud}: ${slot} belongs on ${network}, which has no addresses for VIPs`,
  remedy: ({ network }) => `give ${network} a \`vips\` span, or move the service to a network that has one`,
  description: `MetalLB can give an address only from a pool, and a network has a pool only if it has a \`vips\` span.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', network: 'storagemgmt' },
})

export const routeWithoutOpenShift = problem<{ cloud: string; service: string }>({
  code: 'SL3005',
  severity: 'error',
  title: 'Routes exist on OpenShift only',
  message: ({ cloud, service }) =>
    `${cloud}: the public endpoint of ${service} is to be a Route, but this is plain Kubernetes`,
  remedy: () => 'set `public: {by: vip, network: …}` for the cloud',
  description: `A public endpoint is reached through a Route on OpenShift, or through a VIP of its own. Plain Kubernetes has no
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
  description: `On OpenShift the public endpoint of an API is a Route. On plain Kubernetes it must be a LoadBalancer Service,
so that each cloud takes an address more.`,
  example: { cloud: 'rhoso1', network: 'ctlplane' },
})

export const neededServiceOff = problem<{ cloud: string; service: string; need: string }>({
  code: 'SL3007',
  severity: 'error',
  title: 'A service is on while one that it needs is off',
  message: ({ cloud, service, need }) => `${cloud}: ${service} does not work without ${need}, which is turned off`,
  remedy: ({ service, need }) => `turn ${need} on, or ${service} off`,
  description: `The operator would wait for ever for the service that is missing, and report it only as a condition that
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
  description: `Slots are read from the OpenAPI schema of the CRD of OpenStackControlPlane. Any other file has none.`,
  example: { source: 'crd.yaml', reason: 'it is not a CustomResourceDefinition' },
})

export const serviceSwitchedByOverride = problem<{ cloud: string; service: string; enabled: boolean }>({
  code: 'SL3009',
  severity: 'error',
  title: 'An override switches a service against the plan',
  message: ({ cloud, service, enabled }) =>
    `${cloud}: overrides.controlPlane turns ${service} ${enabled ? 'on' : 'off'}, the plan has it ${enabled ? 'off' : 'on'}`,
  remedy: ({ service, enabled }) =>
    `write \`services: {${service}: ${enabled}}\` instead, so that its addresses are planned`,
  description: `Overrides are merged last, after addresses were given out. A service that is switched there has no VIP, or
holds one for nothing.`,
  example: { cloud: 'rhoso1', service: 'swift', enabled: true },
})

export const unknownRawField = problem<{ cloud: string; field: string; nearest: string | undefined }>({
  code: 'SL3101',
  severity: 'error',
  title: 'A raw field that the control plane does not have',
  message: ({ cloud, field, nearest }) => `${cloud}: the control plane has no field ${field}${known(nearest)}`,
  remedy: ({ nearest }) => (nearest ? `write ${nearest}` : 'remove the field, or plan against the CRD that has it'),
  description: `Raw fields go into the OpenStackControlPlane as they are. An API server that does not check strictly drops a
name that it does not know, and the setting is lost without a word: \`networkAttachents\` leaves a pod off its network.`,
  example: {
    cloud: 'rhoso1',
    field: 'spec.glance.template.networkAttachents',
    nearest: 'networkAttachments',
  },
})

export const foreignPool = problem<{ cloud: string; field: string; pool: string; own: readonly string[] }>({
  code: 'SL3102',
  severity: 'error',
  title: "A raw field names a pool or sharing key that is not the cloud's own",
  message: ({ cloud, field, pool }) => `${cloud}: ${field} names ${pool}, which is not this cloud's`,
  remedy: ({ own }) => `leave it out, so that the plan decides, or name one of ${own.join(', ')}`,
  description: `Pools are named \`<namespace>-<network>\` and serve one namespace. A Service that asks for another pool, such
as the unprefixed \`internalapi\` of the samples, stays pending for ever; a sharing key of another cloud can put two
clouds on one address, because MetalLB does not scope keys by namespace.`,
  example: {
    cloud: 'rhoso1',
    field: 'spec.keystone.template.override.service.internal.metadata.annotations.metallb.universe.tf/address-pool',
    pool: 'internalapi',
    own: ['openstack-internalapi'],
  },
})

export const foreignAddress = problem<{
  cloud: string
  field: string
  address: string
  owner: string | undefined
}>({
  code: 'SL3103',
  severity: 'error',
  title: "A raw field asks for an address that is not the cloud's to give",
  message: ({ cloud, field, address, owner }) =>
    `${cloud}: ${field} asks for ${address}, ${owner ? `which belongs to ${owner}` : "which is in none of this cloud's pools"}`,
  remedy: () => "leave it out, so that the plan decides, or pin an address of the cloud's own pools under `vips`",
  description: `An address that a raw field asks for is in no ledger: MetalLB refuses it when its pool serves another
namespace, and nothing would stop another Service from getting it.`,
  example: {
    cloud: 'rhoso2',
    field: 'spec.dns.template.override.service.metadata.annotations.metallb.io/loadBalancerIPs',
    address: '192.168.122.80',
    owner: 'rhoso1/ctlplane vips',
  },
})

export const overrideConflict = problem<{
  cloud: string
  slot: string
  what: string
  planned: string
  merged: string
}>({
  code: 'SL3104',
  severity: 'error',
  title: 'A raw field undoes what was planned for a Service',
  message: ({ cloud, slot, what, planned, merged }) =>
    `${cloud}: the raw fields make the ${what} of ${slot} ${merged}; the plan says ${planned}`,
  remedy: ({ slot }) => `leave it out; to choose the address yourself, pin it: \`vips: {${slot}: ADDRESS}\``,
  description: `Raw fields are merged last and never lost, so they win over the plan. Where they change the pool, the address
or the type of a planned Service, the ledger, the DNS names and the checks of \`verify\` would speak of another one.`,
  example: {
    cloud: 'rhoso1',
    slot: 'keystone.internal',
    what: 'address',
    planned: '172.17.0.80',
    merged: '172.17.0.81',
  },
})

export const noPlaceForAttachments = problem<{ cloud: string; service: string }>({
  code: 'SL3105',
  severity: 'error',
  title: 'A service cannot be attached to networks',
  message: ({ cloud, service }) => `${cloud}: the control plane has no network attachments for ${service}`,
  remedy: ({ service }) => `remove \`networkAttachments\` of ${service}`,
  description: `Only services whose template has \`networkAttachments\` (or the like) can put their pods on a network of the
cloud. For the others the setting would be lost.`,
  example: { cloud: 'rhoso1', service: 'heat' },
})

export const fewNodes = problem<{ nodes: number }>({
  code: 'SL3201',
  severity: 'warning',
  title: 'Too few nodes for a quorum',
  message: ({ nodes }) =>
    `databases and queues get 1 replica instead of 3, because the site has ${nodes} node${nodes === 1 ? '' : 's'}`,
  remedy: () => 'give the cluster three nodes before anybody depends on the clouds',
  description: `Galera, RabbitMQ, memcached and the OVN databases keep a quorum of three pods on three nodes. On fewer nodes
three pods would die together, so one is rendered; when it is down, the cloud is.`,
  example: { nodes: 1 },
})

export const noDnsServer = problem<{ cloud: string }>({
  code: 'SL3202',
  severity: 'warning',
  title: "The cloud's DNS has nobody to ask",
  message: ({ cloud }) => `${cloud}: no DNS server is named for what the cloud's own DNS does not know`,
  remedy: () => 'name one under `spec.cluster.dns`, or under `dns.servers` of the cloud',
  description: `Each cloud runs a dnsmasq that its hosts ask. Without a server to forward to it answers for the cloud alone, and
hosts find neither registries nor repositories.`,
  example: { cloud: 'rhoso1' },
})

export const prerequisites = problem<{ what: readonly string[] }>({
  code: 'SL3203',
  severity: 'info',
  title: 'What must be installed on plain Kubernetes before',
  message: ({ what }) => `plain Kubernetes has no OLM; these must be there before: ${what.join('; ')}`,
  remedy: () => 'install them with their own manifests, then run `stackloom up`: its first stage looks for them',
  description: `On OpenShift the operators come as Subscriptions. Plain Kubernetes has nothing that would read one, so none is
rendered, and what the clouds stand on is a requirement.`,
  example: { what: ['MetalLB in the namespace metallb-system', 'cert-manager'] },
})

export const noSlotForEndpoint = problem<{ cloud: string; endpoint: string; value: string }>({
  code: 'SL3204',
  severity: 'warning',
  title: 'No slot takes the annotation of an individual endpoint',
  message: ({ cloud, endpoint, value }) =>
    `${cloud}: the address of ${endpoint} is kept, but the control plane has no place for its pod's annotation ${value}`,
  remedy: () => 'set the annotation where the pod is made; the definition with static addresses is there',
  description: `A pod gets a fixed address when its annotation \`k8s.v1.cni.cncf.io/networks\` names a definition with static
IPAM and the address. The control plane takes annotations of pods for RabbitMQ only; for OVN and others the operators
decide themselves.`,
  example: {
    cloud: 'rhoso1',
    endpoint: 'ovndbcluster-sb-0',
    value: '[{"name":"internalapi-static","namespace":"openstack","ips":["172.17.0.20/24"]}]',
  },
})

export const endpointAddressShared = problem<{ cloud: string; endpoint: string; replicas: number }>({
  code: 'SL3205',
  severity: 'error',
  title: 'One address for several pods',
  message: ({ cloud, endpoint, replicas }) =>
    `${cloud}: ${endpoint} has one address, but ${replicas} pods would use it`,
  remedy: ({ endpoint }) => `give ${endpoint} one replica, or reach it through its Service`,
  description: `The annotation stands in the template of a StatefulSet: every pod of it would take the same address, and they
would answer each other's traffic.`,
  example: { cloud: 'rhoso1', endpoint: 'rabbitmq', replicas: 3 },
})

export const changedByOthers = problem<{ file: string }>({
  code: 'SL3206',
  severity: 'warning',
  title: 'A file that is no longer rendered was changed by somebody else',
  message: ({ file }) => `${file} is no longer rendered, but it is not as Stackloom wrote it: it stays`,
  remedy: ({ file }) => `look at ${file}, and remove it if nobody needs it`,
  description: `A rendered tree may live among files of other people. Stackloom removes only what it wrote itself, and only
while it is unchanged: it keeps the hashes of its files in \`.stackloom-tree.json\`.`,
  example: { file: 'tree/clouds/rhoso2/nodes/nncp.yaml' },
})

export const foreignFile = problem<{ file: string }>({
  code: 'SL3207',
  severity: 'error',
  title: "A file of somebody else stands in a rendered file's place",
  message: ({ file }) => `${file} is there already, and Stackloom did not write it`,
  remedy: ({ file }) => `choose another folder, or remove ${file}; nothing was written`,
  description: `\`render --out\` writes into a folder that may hold other files, and never over one that it did not write itself.`,
  example: { file: 'tree/kustomization.yaml' },
})
