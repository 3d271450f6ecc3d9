/** A cloud of a site file: its networks, services, hosts and node sets. Shape only. */
import * as z from 'zod'
import {
  address,
  addresses,
  cidr,
  domain,
  interfaceName,
  label,
  mtu,
  raw,
  span,
  text,
  vlanId,
  vlanRange,
} from './site-values.ts'

const route = z.strictObject({
  destination: cidr.describe('where the route leads, such as 10.0.1.0/24'),
  nexthop: text
    .describe("the router: an IP address, or its place in each cloud's subnet such as +150")
    .meta({ pattern: '^(\\+[0-9]+|[0-9a-fA-F.:]+)$', examples: ['172.17.0.1', '+150'] }),
})

const spans = z.strictObject({
  nodes: span.optional().describe('cluster nodes, set by nmstate'),
  pods: span.optional().describe('pods, given by whereabouts'),
  vips: span.optional().describe('LoadBalancer Services, given by MetalLB'),
  hosts: span.optional().describe('data plane hosts, given by NetConfig and IPSet'),
})

const subnet = z.strictObject({
  name: text.optional().describe('its name in NetConfig; subnet1, subnet2 … by default'),
  cidr,
  gateway: address.optional().describe('the router of this subnet; no allocator gets it'),
  vlan: vlanId.optional().describe("this subnet's VLAN where it differs from the network's"),
  spans: spans.optional().describe('which allocator owns which addresses; a role that is absent has none'),
  reserved: z.array(span).optional().describe('addresses and ranges that no allocator gets'),
  routes: z.array(route).optional().describe('routes of the data plane hosts through this subnet'),
  dnsDomain: domain.optional().describe("this subnet's DNS domain where it differs from the network's"),
})

const endpoint = z.strictObject({
  name: text.describe('the pod that the address is for: ovndbcluster-sb-0, neutron, cinder-api, rabbitmq-cell1'),
  address: address.describe('its address, which is reserved for it'),
})

export const networkSchema = z.strictObject({
  vlan: z
    .union([vlanId, z.literal('untagged')])
    .optional()
    .describe('VLAN id of its segment, or untagged'),
  nic: z
    .union([text, z.literal(false)])
    .optional()
    .describe(
      "the NIC's role on the nodes (cluster.nodes[].nics), `main` by default; false: only data plane hosts are on it",
    )
    .meta({ default: 'main' }),
  interface: interfaceName.optional().describe('name of the interface on the nodes, at most 15 characters'),
  bridge: z
    .union([interfaceName, z.boolean()])
    .optional()
    .describe('a bridge on the segment: its name, or true for a planned name'),
  attach: z.enum(['macvlan', 'bridge', 'none']).optional().describe('how pods attach to it'),
  trunk: z
    .array(z.union([vlanId, vlanRange]))
    .optional()
    .describe('VLANs that pods on its bridge may tag, such as those of VLAN provider networks')
    .meta({ examples: [[40, '100-199']] }),
  mtu: mtu.optional().describe('largest packet, 1500 by default').meta({ default: 1500 }),
  dnsDomain: domain.optional().describe('DNS domain of the names in this network'),
  supernets: z.array(span).optional().describe('where the planner takes subnets from: CIDRs or ranges'),
  subnets: z.array(subnet).optional().describe('its subnets, if they are not to be planned'),
  roles: z
    .array(z.enum(['nodes', 'pods', 'vips', 'hosts']))
    .optional()
    .describe('which allocators a network has; all by default for a network that you add')
    .meta({ default: ['nodes', 'pods', 'vips', 'hosts'] }),
  routes: z.array(route).optional().describe('routes of the nodes and data plane hosts through this network'),
  podRoutes: z.array(route).optional().describe('routes of the pods that attach to it'),
  endpoints: z.array(endpoint).optional().describe('individual endpoints: locked single addresses for pods'),
  nodes: z.record(z.string(), addresses).optional().describe("pinned addresses of the nodes, by node's name"),
})
networkSchema.register(z.globalRegistry, { id: 'network' })

const networkName = text.meta({ names: 'network' })

const service = z.strictObject({
  enabled: z.boolean().optional().describe('whether the cloud has it; naming a service turns it on'),
  replicas: z
    .int()
    .min(0)
    .optional()
    .describe('how many pods: of every instance of a database, queue or cache, else of its API'),
  network: networkName.optional().describe('the network of its internal endpoint'),
  networkAttachments: z.array(networkName).optional().describe('the networks that its pods attach to'),
  public: z.enum(['route', 'vip']).optional().describe('how its public endpoint is reached'),
  cells: z
    .array(text)
    .optional()
    .describe('nova: the cells beside cell0')
    .meta({ examples: [['cell1']] }),
  template: raw.optional().describe('raw fields of its template, merged last and never lost'),
})
service.register(z.globalRegistry, { id: 'service' })

export const host = z.strictObject({
  name: domain.describe("the host's name, such as edpm-compute-0").meta({ examples: ['edpm-compute-0'] }),
  networks: z.array(networkName).optional().describe('the networks that it is on, if not all with a hosts span'),
  addresses: z
    .record(z.string(), addresses)
    .optional()
    .describe('pinned addresses, by network')
    .meta({ names: 'network' }),
  cell: text
    .optional()
    .describe("the nova cell that it belongs to, if not its node set's")
    .meta({ examples: ['cell1'] }),
  nodeSet: text.optional().describe('the node set that it belongs to; edpm-<cell> by default'),
  ansibleHost: address.optional().describe('where Ansible reaches it, if not on ctlplane'),
  overrides: raw
    .optional()
    .describe("raw fields of its entry in the NodeSet's nodes, merged last")
    .meta({ examples: [{ bmhLabelSelector: { rack: 'a1' } }] }),
})

/** What the hosts of a cloud have in common, and what a node set may have otherwise. */
const hostSettings = {
  ansibleUser: text.optional().describe('the user that Ansible logs in as').meta({ default: 'cloud-admin' }),
  sshSecret: text.optional().describe("the Secret with Ansible's SSH key"),
  ntp: z.array(text).optional().describe('time servers of the hosts'),
  nic: interfaceName.optional().describe("the hosts' NIC that carries the networks").meta({ default: 'nic1' }),
  services: z.array(text).optional().describe('the data plane services to run, in order'),
  ansibleVars: raw.optional().describe('variables for Ansible, merged last'),
  preProvisioned: z
    .boolean()
    .optional()
    .describe('whether the hosts have an operating system already')
    .meta({ default: true }),
  registry: z
    .strictObject({
      url: text.optional().describe('the registry, such as quay.io'),
      prefix: text.optional().describe('the path before the image names'),
      tag: text.optional().describe('the tag of the images'),
    })
    .optional()
    .describe('where the hosts get their container images'),
}

const dataPlane = z.strictObject({
  ...hostSettings,
  migrationSecret: text.optional().describe("the Secret with nova's migration SSH key"),
})

/** A field that a node set leaves out is the cloud's, from `dataPlane`. */
export const nodeSet = z
  .strictObject({
    name: text.describe('its name, which is the name of the OpenStackDataPlaneNodeSet'),
    role: z
      .enum(['compute', 'networker', 'hci'])
      .optional()
      .describe(
        'which services run by default: compute (default), networker (OVN gateways, no nova), hci (compute with Ceph OSDs)',
      ),
    cell: text.optional().describe('the nova cell of its hosts, the first one of the cloud by default'),
    networks: z
      .array(text)
      .optional()
      .describe('the networks that its hosts are on, if not all with a hosts span; a host may have its own list'),
    ...hostSettings,
    novaConfig: text
      .optional()
      .describe('lines for nova.conf on its hosts; the set gets a nova service of its own, nova-of-<name>')
      .meta({ examples: ['[compute]\ncpu_dedicated_set = 4-23\n'] }),
    baremetalSetTemplate: raw
      .optional()
      .describe('how bare metal hosts are provisioned; ctlplaneInterface is required')
      .meta({ examples: [{ ctlplaneInterface: 'enp1s0', bmhLabelSelector: { app: 'openstack' } }] }),
    overrides: raw.optional().describe('raw fields of its OpenStackDataPlaneNodeSet.spec, merged last'),
  })
  .meta({
    examples: [
      { name: 'networkers', role: 'networker', networks: ['ctlplane', 'internalapi', 'tenant'] },
      { name: 'compute-dpdk', ansibleVars: { edpm_ovs_dpdk_pmd_core_list: '2,3' } },
    ],
  })

const ceph = z.strictObject({
  secret: text.describe('the Secret with ceph.conf and the keyring'),
  fsid: text.describe('the fsid of the Ceph cluster'),
  user: text.optional().describe('the Ceph user, openstack by default').meta({ default: 'openstack' }),
  pools: z
    .strictObject({
      cinder: text.optional().describe('the pool of volumes').meta({ default: 'volumes' }),
      glance: text.optional().describe('the pool of images').meta({ default: 'images' }),
      nova: text.optional().describe('the pool of ephemeral disks').meta({ default: 'vms' }),
    })
    .optional()
    .describe('the RBD pools, volumes, images and vms by default'),
})

export const cloudSchema = z.strictObject({
  name: label.describe('name of the cloud; lower case, digits, dashes').meta({ examples: ['rhoso1'] }),
  namespace: label.describe('its namespace in the cluster: a cloud is a namespace').meta({ examples: ['openstack'] }),
  version: text.optional().describe('the OpenStackVersion to deploy'),
  storageClass: text.optional().describe("the storage class of its databases, if not the cluster's"),
  keep: z
    .array(z.enum(['attachments', 'control-plane']))
    .optional()
    .describe(
      'what stays with the tool that deployed the cloud, and is neither rendered nor changed: its NetworkAttachmentDefinitions, or its control plane with its Secrets and data plane',
    )
    .meta({ examples: [['attachments', 'control-plane']] }),
  pool: text.optional().describe('a requested pool name; only `<namespace>-<network>` is possible'),
  networks: z
    .record(z.string(), z.union([networkSchema, z.literal(false)]))
    .optional()
    .describe('pins for its networks, by name; false: this cloud does not have the network')
    .meta({ names: 'network' }),
  services: z
    .record(z.string(), z.union([z.boolean(), service]))
    .optional()
    .describe('the OpenStack services, by name: true, false, or settings')
    .meta({ names: 'service' }),
  public: z
    .strictObject({
      by: z.enum(['route', 'vip']).describe('route on OpenShift, or a VIP'),
      network: networkName.optional().describe('the network of the public VIPs'),
    })
    .optional()
    .describe('how public endpoints are reached, unless a service sets it'),
  vips: z
    .record(z.string(), addresses)
    .optional()
    .describe('pinned VIPs, by the name that `stackloom slots -f` prints: keystone.internal')
    .meta({ examples: [{ 'keystone.internal': '172.17.0.80' }] }),
  dns: z
    .strictObject({
      servers: z.array(address).optional().describe("servers that its DNS asks, if not the cluster's"),
      domain: domain.optional().describe('the domain of its networks, `<cloud>.example.com` by default'),
      options: z.array(raw).optional().describe('raw options of its dnsmasq'),
    })
    .optional()
    .describe('name resolution in this cloud'),
  hosts: z.array(host).optional().describe('data plane hosts'),
  nodeSets: z
    .array(nodeSet)
    .optional()
    .describe('groups of hosts with services, variables, networks or hardware of their own; hosts name theirs'),
  dataPlane: dataPlane.optional().describe('how the data plane hosts are set up, unless their node set says otherwise'),
  ceph: ceph.optional().describe('an external Ceph cluster for volumes, images and disks'),
  overrides: z
    .strictObject({
      controlPlane: raw.optional().describe('fields of OpenStackControlPlane.spec'),
      netConfig: raw.optional().describe('fields of NetConfig.spec'),
      nodeSet: raw.optional().describe('fields of OpenStackDataPlaneNodeSet.spec, for every node set'),
    })
    .optional()
    .describe('raw spec fields, merged last and never lost'),
})
