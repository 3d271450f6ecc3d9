/** The defaults of install_yamls, and the literals that no variable sets. Data only. */
/** Every variable that shapes a cloud's networks, with upstream's default. */
export const installYamlsDefaults: Readonly<Record<string, string>> = {
  NAMESPACE: 'openstack',
  RHOSO_INSTANCE_NAME: '',
  OPENSTACK_NAMESPACE: '',
  STORAGE_CLASS: 'local-storage',
  NETWORK_ISOLATION: 'true',
  NETWORK_ISOLATION_USE_DEFAULT_NETWORK: 'true',
  NETWORK_ISOLATION_IPV4: 'true',
  NETWORK_ISOLATION_IPV6: 'false',
  NETWORK_MTU: '1500',
  NETWORK_VLAN_START: '20',
  NETWORK_VLAN_STEP: '1',
  NETWORK_STORAGE_MACVLAN: '',
  NETWORK_INTERNALAPI_ADDRESS_PREFIX: '172.17.0',
  NETWORK_STORAGE_ADDRESS_PREFIX: '172.18.0',
  NETWORK_TENANT_ADDRESS_PREFIX: '172.19.0',
  NETWORK_STORAGEMGMT_ADDRESS_PREFIX: '172.20.0',
  NETWORK_DESIGNATE_ADDRESS_PREFIX: '172.28.0',
  NETWORK_DESIGNATE_EXT_ADDRESS_PREFIX: '172.50.0',
  INTERNALAPI_HOST_ROUTES: '',
  STORAGE_HOST_ROUTES: '',
  TENANT_HOST_ROUTES: '',
  STORAGEMGMT_HOST_ROUTES: '',
  NNCP_ADDITIONAL_HOST_ROUTES: '',
  NNCP_NODES: '',
  NNCP_INTERFACE: 'enp6s0',
  NNCP_BRIDGE: 'ospbr',
  NNCP_CTLPLANE_IP_ADDRESS_PREFIX: '192.168.122',
  NNCP_CTLPLANE_IP_ADDRESS_SUFFIX: '10',
  NNCP_GATEWAY: '192.168.122.1',
  NNCP_DNS_SERVER: '192.168.122.1',
  NNCP_CTLPLANE_IPV6_ADDRESS_PREFIX: 'fd00:aaaa::',
  NNCP_CTLPLANE_IPV6_ADDRESS_SUFFIX: '10',
  NNCP_GATEWAY_IPV6: 'fd00:aaaa::1',
  NNCP_DNS_SERVER_IPV6: 'fd00:aaaa::1',
  METALLB_POOL: '192.168.122.80-192.168.122.90',
  CTLPLANE_METALLB_POOL: '',
  METALLB_IPV6_POOL: '',
  NETWORK_BGP: 'false',
  BGP_ASN: '64999',
  BGP_PEER_ASN: '64999',
  BGP_LEAF_1: '100.65.4.1',
  BGP_LEAF_2: '100.64.4.1',
}

/** The names that the scripts for several clouds use instead; where a file sets both, they win there too. */
export const multiCloudNames: Readonly<Record<string, string>> = {
  NAMESPACE: 'OPENSTACK_NAMESPACE',
  METALLB_POOL: 'CTLPLANE_METALLB_POOL',
}

/** With NETWORK_ISOLATION_USE_DEFAULT_NETWORK=false the control plane has its own network. */
export const ownNetworkDefaults: Readonly<Record<string, string>> = {
  NNCP_CTLPLANE_IP_ADDRESS_PREFIX: '172.16.1',
  NNCP_GATEWAY: '172.16.1.1',
  NNCP_DNS_SERVER: '172.16.1.1',
  METALLB_POOL: '172.16.1.80-172.16.1.90',
}

export interface UpstreamNetwork {
  readonly name: string
  /** The variable with its first three octets. */
  readonly prefix: string
  /** Its VLAN is `NETWORK_VLAN_START + step * NETWORK_VLAN_STEP`. */
  readonly step: number
  readonly ipv6: string
  readonly routes?: string
  /** Which allocators upstream gives it, as last numbers of addresses. */
  readonly spans: Readonly<Partial<Record<'nodes' | 'pods' | 'vips' | 'hosts', string>>>
  /** The generator of attachments always writes these octets. */
  readonly literal?: string
}

const everyRole = { nodes: '5-29', pods: '30-70', vips: '80-90', hosts: '100-250' }

export interface FixedNetwork {
  readonly name: string
  readonly ipv4: string
  readonly ipv6: string
  /** Absent: on no interface of the nodes. */
  readonly step?: number
  readonly spans: UpstreamNetwork['spans']
  /** The last number of its router. */
  readonly gateway?: string
}

/** Networks whose addresses no variable sets; every cloud has the same. */
export const fixedNetworks: readonly FixedNetwork[] = [
  { name: 'octavia', ipv4: '172.23.0', ipv6: 'fd00:eeee::', step: 4, spans: { pods: '30-70' } },
  { name: 'external', ipv4: '10.0.0', ipv6: 'fd00:ffff::', spans: { hosts: '100-250' }, gateway: '1' },
]

export const upstreamNetworks: readonly UpstreamNetwork[] = [
  { ...withHosts('internalapi', 0, 'fd00:bbbb::'), spans: everyRole },
  { ...withHosts('storage', 1, 'fd00:cccc::'), spans: everyRole },
  { ...withHosts('tenant', 2, 'fd00:dddd::'), spans: everyRole },
  { ...withHosts('storagemgmt', 3, 'fd00:dede::'), spans: { nodes: '5-29', pods: '30-70', hosts: '100-250' } },
  {
    name: 'designate',
    prefix: 'NETWORK_DESIGNATE_ADDRESS_PREFIX',
    step: 5,
    ipv6: 'fd00:eded::',
    spans: { nodes: '5-29', pods: '30-70' },
    literal: '172.28.0',
  },
  {
    name: 'designateext',
    prefix: 'NETWORK_DESIGNATE_EXT_ADDRESS_PREFIX',
    step: 6,
    ipv6: 'fd00:eaea::',
    spans: { nodes: '5-29', pods: '30-70', vips: '80-90' },
    literal: '172.50.0',
  },
]

/** A network that data plane hosts are on, with upstream's names of its variables. */
function withHosts(name: string, step: number, ipv6: string): Omit<UpstreamNetwork, 'spans'> {
  const variable = name.toUpperCase()
  return { name, prefix: `NETWORK_${variable}_ADDRESS_PREFIX`, step, ipv6, routes: `${variable}_HOST_ROUTES` }
}

/** NetConfig's sample for ctlplane, which no variable changes. */
export const ctlplaneSpans = { pods: ['30-70'], hosts: ['100-120', '150-200'], lastNode: 29 } as const
