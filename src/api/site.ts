/**
 * The Site kind: what a person writes. Shape only; defaults are `site/`'s, judgement is `plan/`'s.
 *
 * Every value under a cloud's networks is a pin: leave out what the planner may choose.
 */
import { z } from 'zod'

const text = z.string().min(1)
const address = text.describe('an IP address, such as 172.17.0.80')
const cidr = text.describe('a network in CIDR form, such as 172.17.0.0/24')
const span = z
  .union([text, z.array(text)])
  .describe('addresses: a range such as 172.17.0.80-172.17.0.90, one address, or a list of these')
const raw = z.record(z.string(), z.unknown())

const route = z.strictObject({
  destination: cidr,
  nexthop: text.describe("an IP address, or its place in each cloud's subnet such as +150"),
})

const spans = z
  .strictObject({
    nodes: span.optional().describe('cluster nodes, set by nmstate'),
    pods: span.optional().describe('pods, given by whereabouts'),
    vips: span.optional().describe('LoadBalancer Services, given by MetalLB'),
    hosts: span.optional().describe('data plane hosts, given by NetConfig and IPSet'),
  })
  .describe('which allocator owns which addresses; a role that is absent has none')

const subnet = z.strictObject({
  name: text.optional(),
  cidr,
  gateway: address.optional(),
  vlan: z.int().optional().describe("this subnet's VLAN where it differs from the network's"),
  spans: spans.optional(),
  reserved: z.array(span).optional().describe('addresses that no allocator gets'),
  routes: z.array(route).optional(),
  dnsDomain: text.optional(),
})

const endpoint = z.strictObject({ name: text, address })

export const networkSchema = z.strictObject({
  vlan: z.union([z.int(), z.literal('untagged')]).optional(),
  nic: text.optional().describe("the NIC's role on the nodes (cluster.nodes[].nics), `main` by default"),
  interface: text.optional().describe('name of the interface on the nodes, at most 15 characters'),
  bridge: z
    .union([text, z.boolean()])
    .optional()
    .describe('a bridge on the segment: its name, or true for a planned name'),
  attach: z.enum(['macvlan', 'bridge', 'none']).optional().describe('how pods attach to it'),
  mtu: z.int().optional(),
  dnsDomain: text.optional(),
  supernets: z.array(span).optional().describe('where the planner takes subnets from: CIDRs or ranges'),
  subnets: z.array(subnet).optional(),
  /** Which allocators the network has; a role that is not listed has no span. */
  roles: z.array(z.enum(['nodes', 'pods', 'vips', 'hosts'])).optional(),
  routes: z.array(route).optional().describe('routes of the nodes and data plane hosts through this network'),
  podRoutes: z.array(route).optional().describe('routes of the pods that attach to it'),
  endpoints: z.array(endpoint).optional().describe('individual endpoints: locked single addresses for pods'),
  nodes: z
    .record(z.string(), z.union([address, z.array(address)]))
    .optional()
    .describe("pinned addresses of the nodes, by node's name"),
})

const service = z.strictObject({
  enabled: z.boolean().optional(),
  replicas: z.int().optional(),
  network: text.optional().describe('the network of its internal endpoint'),
  networkAttachments: z.array(text).optional(),
  public: z.enum(['route', 'vip']).optional().describe('how its public endpoint is reached'),
  cells: z.array(text).optional().describe('nova: the cells beside cell0'),
  template: raw.optional().describe('raw fields of its template, merged last and never lost'),
})

const host = z.strictObject({
  name: text,
  networks: z.array(text).optional(),
  addresses: z
    .record(z.string(), z.union([address, z.array(address)]))
    .optional()
    .describe('pinned addresses, by network'),
  cell: text.optional(),
  ansibleHost: address.optional(),
})

const dataPlane = z.strictObject({
  ansibleUser: text.optional(),
  sshSecret: text.optional(),
  migrationSecret: text.optional(),
  ntp: z.array(text).optional(),
  nic: text.optional().describe("the hosts' NIC that carries the networks"),
  services: z.array(text).optional(),
  ansibleVars: raw.optional(),
  preProvisioned: z.boolean().optional(),
  registry: z
    .strictObject({ url: text.optional(), prefix: text.optional(), tag: text.optional() })
    .optional(),
})

const ceph = z.strictObject({
  secret: text.describe('the Secret with ceph.conf and the keyring'),
  fsid: text.describe('the fsid of the Ceph cluster'),
  user: text.optional(),
  pools: z
    .strictObject({ cinder: text.optional(), glance: text.optional(), nova: text.optional() })
    .optional(),
})

export const cloudSchema = z.strictObject({
  name: text,
  namespace: text,
  version: text.optional().describe('the OpenStackVersion to deploy'),
  storageClass: text.optional(),
  pool: text
    .optional()
    .describe('the pool name that somebody asked for; only `<namespace>-<network>` can work'),
  networks: z.record(z.string(), z.union([networkSchema, z.literal(false)])).optional(),
  services: z.record(z.string(), z.union([z.boolean(), service])).optional(),
  public: z.strictObject({ by: z.enum(['route', 'vip']), network: text.optional() }).optional(),
  vips: z
    .record(z.string(), z.union([address, z.array(address)]))
    .optional()
    .describe("pinned VIPs, by slot's name"),
  dns: z
    .strictObject({
      servers: z.array(address).optional(),
      domain: text.optional(),
      options: z.array(raw).optional(),
    })
    .optional(),
  hosts: z.array(host).optional(),
  dataPlane: dataPlane.optional(),
  ceph: ceph.optional(),
  overrides: z
    .strictObject({ controlPlane: raw.optional(), netConfig: raw.optional(), nodeSet: raw.optional() })
    .optional()
    .describe('raw spec fields, merged last and never lost'),
})

const bond = z.strictObject({
  name: text,
  ports: z.array(text).min(1),
  mode: z.enum([
    'active-backup',
    'balance-rr',
    'balance-xor',
    'broadcast',
    '802.3ad',
    'balance-tlb',
    'balance-alb',
  ]),
  mtu: z.int().optional(),
  options: z.record(z.string(), z.union([z.string(), z.int()])).optional(),
})

const node = z.strictObject({
  name: text,
  nic: text.optional().describe('short form of nics: {main: …}'),
  nics: z.record(z.string(), text).optional().describe('NICs by role, such as {main: enp6s0}'),
  mtu: z.int().optional().describe('the largest mtu that the NICs carry'),
})

const bgpPeer = z.strictObject({
  name: text.optional(),
  address,
  asn: z.int(),
  port: z.int().optional(),
  nodes: z.array(text).optional(),
  passwordSecret: text.optional(),
  bfdProfile: text.optional(),
  ebgpMultiHop: z.boolean().optional(),
})

const metallb = z.strictObject({
  mode: z.enum(['layer2', 'bgp']).optional(),
  namespace: text.optional(),
  asn: z.int().optional(),
  peers: z.array(bgpPeer).optional(),
})

const catalog = z.strictObject({
  source: text.optional(),
  sourceNamespace: text.optional(),
  channel: text.optional(),
  image: text.optional(),
})

export const siteSpecSchema = z.strictObject({
  cluster: z.strictObject({
    platform: z.enum(['openshift', 'kubernetes']).optional(),
    nodes: z.array(node).min(1),
    reserved: z
      .strictObject({
        machine: z.array(cidr).optional(),
        pods: z.array(cidr).optional(),
        services: z.array(cidr).optional(),
        join: z.array(cidr).optional(),
        other: z.array(cidr).optional(),
      })
      .optional()
      .describe('what the cluster itself uses'),
    dns: z.array(address).optional(),
    domain: text.optional().describe('the domain of Routes, such as apps.example.com'),
    storageClass: text.optional(),
    bonds: z.array(bond).optional(),
    maxUnavailable: z
      .union([z.int(), text])
      .optional()
      .describe('how many nodes may be reconfigured at once'),
    metallb: metallb.optional(),
    operators: z
      .strictObject({
        nmstate: catalog.optional(),
        metallb: catalog.optional(),
        certManager: catalog.optional(),
        openstack: catalog.optional(),
      })
      .optional(),
  }),
  addressing: z
    .strictObject({
      isolation: z.enum(['vlan-per-cloud', 'shared-vlan']).optional(),
      families: z
        .array(z.union([z.literal(4), z.literal(6)]))
        .min(1)
        .optional(),
      vlans: z.strictObject({ first: z.int(), last: z.int() }).optional(),
      prefixLength: z
        .strictObject({
          ipv4: z.int().min(8).max(29).optional(),
          ipv6: z.int().min(16).max(124).optional(),
        })
        .optional()
        .describe("the size of a cloud's subnets, 24 and 64 by default"),
      layout: spans
        .optional()
        .describe('spans as host offsets, such as {vips: 80-90}, for subnets without spans of their own'),
    })
    .optional(),
  networks: z
    .record(z.string(), z.union([networkSchema, z.literal(false)]))
    .optional()
    .describe('templates: what a network of this name is in every cloud; false: no cloud has it'),
  clouds: z.array(cloudSchema),
  accept: z.array(z.strictObject({ code: text, where: text.optional(), reason: text })).optional(),
})

export const siteSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1'),
  kind: z.literal('Site'),
  metadata: z.looseObject({ name: text }),
  spec: siteSpecSchema,
})

/** The file as written. */
export type SiteFile = z.infer<typeof siteSchema>
export type SiteFileSpec = z.infer<typeof siteSpecSchema>
export type SiteFileCloud = z.infer<typeof cloudSchema>
export type SiteFileNetwork = z.infer<typeof networkSchema>
