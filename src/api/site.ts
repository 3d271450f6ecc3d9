/**
 * The Site kind: what a person writes. Shape only; defaults are `site/`'s, judgement is `plan/`'s.
 *
 * Every value under a cloud's networks is a pin: leave out what the planner may choose. Every field says what it is
 * for: editors show it, `stackloom schema` prints it.
 */
import * as z from 'zod'

// Patterns, ranges, examples and defaults in `meta` are for editors and the reference page. The planner checks the values
// themselves, with findings that know the rest of the file.
const text = z.string().min(1)
const label = text.meta({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' })
const domain = text.meta({ pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$' })
const address = text
  .describe('an IP address, such as 172.17.0.80')
  .meta({ pattern: '^[0-9a-fA-F.:]+$', examples: ['172.17.0.80', 'fd00:bbbb::50'] })
const cidr = text
  .describe('a network in CIDR form, such as 172.17.0.0/24')
  .meta({ pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$', examples: ['172.17.0.0/24', 'fd00:bbbb::/64'] })
const rangeText = text.meta({ pattern: '^[0-9a-fA-F.:]+( *- *[0-9a-fA-F.:]+|/[0-9]{1,3})?$' })
const span = z
  .union([rangeText, z.array(rangeText)])
  .describe('addresses: a range such as 172.17.0.80-172.17.0.90, one address, or a list of these')
  .meta({ examples: ['172.17.0.80-172.17.0.90'] })
const offsetText = text.meta({ pattern: '^[0-9]{1,9}(-[0-9]{1,9})?$' })
const offsets = z.union([offsetText, z.array(offsetText)]).meta({ examples: ['80-90'] })
const raw = z.record(z.string(), z.unknown())
const addresses = z.union([address, z.array(address)]).describe('one address, or one of each family')

const mtu = z.int().min(68).max(9216)
const asn = z.int().min(1).max(4_294_967_295)
/** The planner checks the ids of networks (SL2204) and of the range (SL2010); this is for editors. */
const vlanId = z.int().meta({ minimum: 1, maximum: 4094 })
const vlanRange = text.meta({ pattern: '^[0-9]{1,4}-[0-9]{1,4}$' })
/** Not empty by `text`. At most 15 characters, which SL2501 reports with the name that exceeds them. */
const interfaceName = text.regex(
  /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/,
  'an interface name of letters, digits, dots, dashes and underscores',
)

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

const networkSchema = z.strictObject({
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

const host = z.strictObject({
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
const nodeSet = z
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

const cloudSchema = z.strictObject({
  name: label.describe('name of the cloud; lower case, digits, dashes').meta({ examples: ['rhoso1'] }),
  namespace: label.describe('its namespace in the cluster: a cloud is a namespace').meta({ examples: ['openstack'] }),
  version: text.optional().describe('the OpenStackVersion to deploy'),
  storageClass: text.optional().describe("the storage class of its databases, if not the cluster's"),
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

const bond = z.strictObject({
  name: interfaceName.describe('its interface name; a node uses it as a NIC'),
  ports: z.array(interfaceName).min(1).describe('the interfaces that it is made of'),
  mode: z
    .enum(['active-backup', 'balance-rr', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'])
    .describe('how it uses its ports; 802.3ad needs LACP on the switch'),
  mtu: mtu.optional().describe('the largest mtu that it carries'),
  options: z
    .record(z.string(), z.union([z.string(), z.int()]))
    .optional()
    .describe('options of the bonding driver'),
})

const node = z.strictObject({
  name: domain.describe("the node's name in the cluster (kubectl get nodes)").meta({ examples: ['worker-0'] }),
  nic: interfaceName
    .optional()
    .describe('short form of nics: {main: …}')
    .meta({ examples: ['enp6s0'] }),
  nics: z.record(z.string(), interfaceName).optional().describe('NICs by role, such as {main: enp6s0}'),
  mtu: mtu.optional().describe('the largest mtu that the NICs carry'),
})

const bgpPeer = z.strictObject({
  name: text.optional().describe('its name in messages and objects'),
  address: address.describe("the router's address"),
  asn: asn.describe("the router's AS number"),
  port: z.int().min(1).max(65_535).optional().describe('its port, 179 by default').meta({ default: 179 }),
  nodes: z.array(text).optional().describe('the nodes that peer with it; all by default'),
  passwordSecret: text.optional().describe('the Secret with the session password'),
  bfdProfile: text.optional().describe('the BFDProfile to use'),
  ebgpMultiHop: z.boolean().optional().describe('whether the router may be more than one hop away'),
})

const metallb = z.strictObject({
  mode: z
    .enum(['layer2', 'bgp'])
    .optional()
    .describe('how VIPs are announced, layer2 by default')
    .meta({ default: 'layer2' }),
  namespace: label
    .optional()
    .describe("MetalLB's namespace, metallb-system by default")
    .meta({ default: 'metallb-system' }),
  asn: asn.optional().describe("the cluster's AS number (BGP)"),
  peers: z.array(bgpPeer).optional().describe('the routers to peer with (BGP)'),
})

const catalog = z.strictObject({
  source: text.optional().describe('the CatalogSource; with an image, the name of the one that is created'),
  sourceNamespace: text.optional().describe("the CatalogSource's namespace"),
  channel: text.optional().describe('the channel of the subscription'),
  image: text.optional().describe('a custom catalog image; a CatalogSource is created for it'),
})

const reservedCidrs = z.array(cidr).optional()

const reserved = z.strictObject({
  machine: reservedCidrs.describe("the nodes' own network"),
  pods: reservedCidrs.describe('the cluster network'),
  services: reservedCidrs.describe('the service network'),
  join: reservedCidrs.describe("OVN-Kubernetes' internal networks"),
  other: reservedCidrs.describe('anything else that is in use'),
})

const isolation = z.strictObject({
  forwarding: z
    .enum(['block', 'allow'])
    .optional()
    .describe('whether nodes route packets between networks of the clouds')
    .meta({ default: 'block' }),
  nodeAddresses: z
    .enum(['own-segment', 'any-segment'])
    .optional()
    .describe('where nodes answer ARP for their addresses: on the segment of the address, or on every segment')
    .meta({ default: 'own-segment' }),
  taggedFrames: z
    .enum(['block', 'allow'])
    .optional()
    .describe("whether bridges over a whole NIC pass tagged frames of pods that no network's `trunk` lists")
    .meta({ default: 'block' }),
})

const cluster = z.strictObject({
  platform: z
    .enum(['openshift', 'kubernetes'])
    .optional()
    .describe('openshift by default')
    .meta({ default: 'openshift' }),
  release: text
    .optional()
    .describe(
      'the release of the OpenStack operators, such as 18.0-fr6: what is rendered has its fields; the newest by default',
    )
    .meta({ names: 'release' }),
  nodes: z.array(node).min(1).describe('the nodes that run the clouds, with their NICs'),
  reserved: reserved.optional().describe('what the cluster itself uses; the defaults of the platform otherwise'),
  dns: z.array(address).optional().describe('DNS servers that the clouds ask'),
  domain: domain
    .optional()
    .describe('the domain of Routes, such as apps.example.com')
    .meta({ examples: ['apps.example.com'] }),
  storageClass: text.optional().describe('the storage class of the clouds'),
  bonds: z.array(bond).optional().describe('bonds to create on the nodes'),
  maxUnavailable: z
    .union([z.int().min(1), text.regex(/^[1-9]\d*%$/, 'a percentage such as 50%')])
    .optional()
    .describe('how many nodes may be reconfigured at once, a number or a percentage')
    .meta({ examples: [1, '50%'] }),
  isolation: isolation.optional().describe('what nodes keep apart beside the VLANs'),
  metallb: metallb.optional().describe('how MetalLB announces the VIPs'),
  operators: z
    .strictObject({
      nmstate: catalog.optional().describe('the Kubernetes NMState operator'),
      metallb: catalog.optional().describe('the MetalLB operator'),
      certManager: catalog.optional().describe('the cert-manager operator'),
      openstack: catalog.optional().describe('the OpenStack operator'),
    })
    .optional()
    .describe('where the operators come from'),
})

const addressing = z.strictObject({
  isolation: z
    .enum(['vlan-per-cloud', 'shared-vlan'])
    .optional()
    .describe('own segments for every cloud (default), or one VLAN per network shared by all clouds')
    .meta({ default: 'vlan-per-cloud' }),
  families: z
    .array(z.union([z.literal(4), z.literal(6)]))
    .min(1)
    .optional()
    .describe('IP versions that every network has, [4] by default')
    .meta({ default: [4], examples: [[4, 6]] }),
  vlans: z
    .strictObject({
      first: vlanId.describe('the lowest VLAN id to give'),
      last: vlanId.describe('the highest VLAN id to give'),
    })
    .optional()
    .describe('VLAN ids that the planner may give, 20 to 4094 by default')
    .meta({ default: { first: 20, last: 4094 } }),
  prefixLength: z
    .strictObject({
      ipv4: z.int().min(8).max(29).optional().describe('24 by default').meta({ default: 24 }),
      ipv6: z.int().min(16).max(124).optional().describe('64 by default').meta({ default: 64 }),
    })
    .optional()
    .describe("the size of a cloud's subnets"),
  layout: z
    .strictObject({
      nodes: offsets.optional().describe('cluster nodes').meta({ default: '5-29' }),
      pods: offsets.optional().describe('pods').meta({ default: '30-70' }),
      vips: offsets.optional().describe('LoadBalancer Services').meta({ default: '80-90' }),
      hosts: offsets.optional().describe('data plane hosts').meta({ default: '100-250' }),
    })
    .optional()
    .describe('spans as host offsets, such as {vips: 80-90}, for subnets without spans'),
})

const acceptance = z.strictObject({
  code: text
    .describe('the code of the finding, such as SL2101')
    .meta({ pattern: '^SL[0-9]{4}$', examples: ['SL2101'] }),
  where: text.optional().describe('a word of the finding, such as rhoso1/designateext; everywhere by default'),
  reason: text.describe('why this is accepted, for later readers of the file'),
})

const siteSpecSchema = z.strictObject({
  cluster: cluster.describe('the one cluster that all clouds of this site run on'),
  addressing: addressing.optional().describe('how the planner chooses what the file leaves open'),
  networks: z
    .record(z.string(), z.union([networkSchema, z.literal(false)]))
    .optional()
    .describe('templates: what a network of this name is in every cloud; false: no cloud has it')
    .meta({ names: 'network' }),
  clouds: z.array(cloudSchema).describe('the clouds, in any order'),
  accept: z.array(acceptance).optional().describe('findings that you accept'),
})

export const siteSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1').describe('the version of this format'),
  kind: z.literal('Site').describe('always Site'),
  metadata: z
    .looseObject({ name: label.describe('the name of the site') })
    .describe('name, labels and annotations, as of any Kubernetes object'),
  spec: siteSpecSchema.describe('the cluster and the clouds on it'),
})

/** The file as written. */
export type SiteFile = z.infer<typeof siteSchema>
export type SiteFileSpec = z.infer<typeof siteSpecSchema>
export type SiteFileCloud = z.infer<typeof cloudSchema>
export type SiteFileNetwork = z.infer<typeof networkSchema>
export type SiteFileHost = z.infer<typeof host>
export type SiteFileNodeSet = z.infer<typeof nodeSet>
export type SiteFileBond = z.infer<typeof bond>
export type SiteFilePeer = z.infer<typeof bgpPeer>
