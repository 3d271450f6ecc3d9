/** SL31xx: raw fields that conflict with the plan. SL32xx: the rendered documents and files. */
import { problem } from '../errors/finding.ts'

export const foreignPool = problem<{ cloud: string; field: string; pool: string; allowed: readonly string[] }>({
  code: 'SL3102',
  severity: 'error',
  title: 'A raw field names a pool or sharing key of another cloud',
  message: ({ cloud, field, pool }) => `${cloud}: ${field} names ${pool}, which is not this cloud's`,
  remedy: ({ allowed }) => `remove it, so that the plan decides, or name one of ${allowed.join(', ')}`,
  description: `Pools are named \`<namespace>-<network>\` and serve one namespace. A Service that asks for another pool, such
as the unprefixed \`internalapi\` of the samples, stays pending forever; a sharing key of another cloud can put two
clouds on one address, because MetalLB does not scope keys by namespace.`,
  example: {
    cloud: 'rhoso1',
    field: 'spec.keystone.template.override.service.internal.metadata.annotations.metallb.universe.tf/address-pool',
    pool: 'internalapi',
    allowed: ['openstack-internalapi'],
  },
})

export const foreignAddress = problem<{ cloud: string; field: string; address: string; owner: string | undefined }>({
  code: 'SL3103',
  severity: 'error',
  title: 'A raw field requests an address that the cloud does not own',
  message: ({ cloud, field, address, owner }) =>
    `${cloud}: ${field} requests ${address}, ${owner ? `which belongs to ${owner}` : "which is in none of this cloud's pools"}`,
  remedy: () => "remove it, so that the plan decides, or pin an address of the cloud's own pools under `vips`",
  description: `An address that a raw field requests is in no ledger: MetalLB refuses it when its pool serves another
namespace, and nothing prevents another Service from getting it.`,
  example: {
    cloud: 'rhoso2',
    field: 'spec.dns.template.override.service.metadata.annotations.metallb.io/loadBalancerIPs',
    address: '192.168.122.80',
    owner: 'rhoso1/ctlplane vips',
  },
})

export const overrideConflict = problem<{ cloud: string; slot: string; what: string; planned: string; merged: string }>(
  {
    code: 'SL3104',
    severity: 'error',
    title: 'A raw field overrides what is planned for a Service',
    message: ({ cloud, slot, what, planned, merged }) =>
      `${cloud}: the raw fields make the ${what} of ${slot} ${merged}; the plan says ${planned}`,
    remedy: ({ slot }) => `remove it; to choose the address yourself, pin it: \`vips: {${slot}: ADDRESS}\``,
    description: `Raw fields are merged last and never lost, so they win over the plan. Where they change the pool, the address
or the type of a planned Service, the ledger, the DNS names and the checks of \`verify\` would refer to another one.`,
    example: {
      cloud: 'rhoso1',
      slot: 'keystone.internal',
      what: 'address',
      planned: '172.17.0.80',
      merged: '172.17.0.81',
    },
  },
)

export const noPlaceForAttachments = problem<{ cloud: string; service: string }>({
  code: 'SL3105',
  severity: 'error',
  title: 'A service cannot be attached to networks',
  message: ({ cloud, service }) => `${cloud}: the control plane has no network attachments for ${service}`,
  remedy: ({ service }) => `remove \`networkAttachments\` of ${service}`,
  description: `Only services whose template has \`networkAttachments\` or an equivalent can attach their pods to a network
of the cloud. For others the setting would be lost.`,
  example: { cloud: 'rhoso1', service: 'heat' },
})

export const fewNodes = problem<{ nodes: number }>({
  code: 'SL3201',
  severity: 'warning',
  title: 'Too few nodes for a quorum',
  message: ({ nodes }) =>
    `databases and queues get 1 replica instead of 3, because the site has ${nodes} node${nodes === 1 ? '' : 's'}`,
  remedy: () => 'give the cluster three nodes before the clouds are used in production',
  description: `Galera, RabbitMQ, memcached and the OVN databases keep a quorum of three pods on three nodes. On fewer nodes
three pods would fail together, so one is rendered; when it is down, so is the cloud.`,
  example: { nodes: 1 },
})

export const noDnsServer = problem<{ cloud: string }>({
  code: 'SL3202',
  severity: 'warning',
  title: "The cloud's DNS has no server to forward to",
  message: ({ cloud }) => `${cloud}: no DNS server is named for what the cloud's own DNS does not know`,
  remedy: () => 'name one under `spec.cluster.dns`, or under `dns.servers` of the cloud',
  description: `Each cloud runs a dnsmasq that its hosts ask. Without a server to forward to it answers for the cloud alone, and
hosts find neither registries nor repositories.`,
  example: { cloud: 'rhoso1' },
})

export const prerequisites = problem<{ what: readonly string[] }>({
  code: 'SL3203',
  severity: 'info',
  title: 'Plain Kubernetes needs these programs installed first',
  message: ({ what }) => `plain Kubernetes has no OLM; install these first: ${what.join('; ')}`,
  remedy: () => 'install them with their own manifests, then run `stackloom up`: its first stage checks for them',
  description: `On OpenShift the operators come as Subscriptions. Plain Kubernetes has no program that reads them, so none
is rendered, and what the clouds need is a requirement.`,
  example: { what: ['MetalLB in the namespace metallb-system', 'cert-manager'] },
})

export const noSlotForEndpoint = problem<{ cloud: string; endpoint: string; value: string }>({
  code: 'SL3204',
  severity: 'warning',
  title: 'No slot takes the annotation of an individual endpoint',
  message: ({ cloud, endpoint, value }) =>
    `${cloud}: the address of ${endpoint} is reserved, but the control plane has no place for its pod's annotation ${value}`,
  remedy: () =>
    'set the annotation where the pod is created; the attachment definition with static addresses is rendered',
  description: `A pod gets a fixed address when its annotation \`k8s.v1.cni.cncf.io/networks\` names a definition with static
IPAM and the address. The control plane takes annotations of pods for RabbitMQ only; for OVN and others the operators
decide.`,
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
  description: `The annotation is in the template of a StatefulSet: each of its pods would use the same address and answer
the traffic of the others.`,
  example: { cloud: 'rhoso1', endpoint: 'rabbitmq', replicas: 3 },
})

export const changedByOthers = problem<{ file: string }>({
  code: 'SL3206',
  severity: 'warning',
  title: 'A file that is no longer rendered was changed by another program',
  message: ({ file }) => `${file} is no longer rendered, but it is not as Stackloom wrote it: it stays`,
  remedy: ({ file }) => `look at ${file}, and remove it if it is not needed`,
  description: `A rendered tree may be among other files. Stackloom removes only files that it wrote and that are unchanged: it keeps the hashes of its files in \`.stackloom-tree.json\`.`,
  example: { file: 'tree/clouds/rhoso2/nodes/nncp.yaml' },
})

export const foreignFile = problem<{ file: string }>({
  code: 'SL3207',
  severity: 'error',
  title: 'A file that Stackloom did not write would be overwritten',
  message: ({ file }) => `${file} exists already, and Stackloom did not write it`,
  remedy: ({ file }) => `choose another folder, or remove ${file}; nothing was written`,
  description: `\`render --out\` writes into a folder that may hold other files, and never overwrites one that it did not write.`,
  example: { file: 'tree/kustomization.yaml' },
})
