/** The cluster of a site file: its nodes, MetalLB, catalogs and reserved ranges. Shape only. */
import * as z from 'zod'
import { address, asn, cidr, domain, interfaceName, label, mtu, text } from './site-values.ts'

export const bond = z.strictObject({
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
  name: domain.describe("the node's name in the cluster (`kubectl get nodes`)").meta({ examples: ['worker-0'] }),
  nic: interfaceName
    .optional()
    .describe('short form of nics: {main: …}')
    .meta({ examples: ['enp6s0'] }),
  nics: z.record(z.string(), interfaceName).optional().describe('NICs by role, such as {main: enp6s0}'),
  mtu: mtu.optional().describe('the largest mtu that the NICs carry'),
})

export const bgpPeer = z.strictObject({
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
  channel: text
    .optional()
    .describe('the channel of the subscription; `alpha` for openstack with an image, as development catalogs have'),
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

export const cluster = z.strictObject({
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
