/** Builds NetConfigs and IPSets for tests, based on infra-operator's conformance list. */
import type { IpReservation, IpSet, IpSetNetwork } from '../src/api/ipset.ts'
import type { NetConfig, NetConfigSpec } from '../src/api/netconfig.ts'

export const networkVersion = 'network.openstack.org/v1beta1'

export function netConfig(spec: NetConfigSpec, annotations: Readonly<Record<string, string>> = {}): NetConfig {
  return {
    apiVersion: networkVersion,
    kind: 'NetConfig',
    metadata: { name: 'netconfig', namespace: 'ns', annotations },
    spec,
  }
}

/** The NetConfig of the conformance list: net-1 to net-3, one subnet each. */
export const threeNetworks: NetConfigSpec = {
  networks: [
    conformanceNetwork('net-1', 17, 20),
    conformanceNetwork('net-2', 18, 21),
    conformanceNetwork('net-3', 19, 21),
  ],
}

function conformanceNetwork(name: string, octet: number, vlan: number): NetConfigSpec['networks'][number] {
  const at = (last: number): string => `172.${octet}.0.${last}`
  return {
    name,
    mtu: 1400,
    dnsDomain: `${name}.example.com`,
    subnets: [
      {
        name: 'subnet1',
        cidr: `${at(0)}/24`,
        vlan,
        gateway: at(1),
        allocationRanges: [{ start: at(100), end: at(200) }],
        excludeAddresses: [at(201)],
      },
    ],
  }
}

export function ipSet(name: string, networks: readonly Partial<IpSetNetwork>[], namespace = 'ns'): IpSet {
  const requests = networks.map((network) => ({ name: 'net-1', subnetName: 'subnet1', ...network }))
  return {
    apiVersion: networkVersion,
    kind: 'IPSet',
    metadata: { name, namespace },
    spec: { immutable: false, networks: requests },
  }
}

const subnet = (net: string, over: object): NetConfigSpec['networks'][number]['subnets'][number] => ({
  name: 'subnet1',
  cidr: `${net}.0/24`,
  allocationRanges: [{ start: `${net}.10`, end: `${net}.250` }],
  ...over,
})

const designConfig: NetConfig = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'NetConfig',
  metadata: { name: 'netconfig', namespace: 'openstack' },
  spec: {
    networks: [
      {
        name: 'CtlPlane',
        mtu: 1500,
        subnets: [
          subnet('192.168.122', {
            gateway: '192.168.122.1',
            allocationRanges: [
              { start: '192.168.122.100', end: '192.168.122.120' },
              { start: '192.168.122.150', end: '192.168.122.200' },
            ],
          }),
        ],
      },
      {
        name: 'InternalApi',
        mtu: 1500,
        subnets: [subnet('172.17.0', { vlan: 20, excludeAddresses: ['172.17.0.10', '172.17.0.12'] })],
      },
      {
        name: 'External',
        mtu: 1500,
        subnets: [
          subnet('10.0.0', {
            gateway: '10.0.0.1',
            routes: [{ destination: '10.0.1.0/24', nexthop: '10.0.0.100' }],
          }),
        ],
      },
      { name: 'Storage', mtu: 1500, subnets: [subnet('172.18.0', { vlan: 30 })] },
      { name: 'Tenant', mtu: 9000, subnets: [subnet('172.20.0', { vlan: 50 })] },
    ],
  },
}

const designIpSet: IpSet = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name: 'edpm-compute-0', namespace: 'openstack' },
  spec: {
    immutable: false,
    networks: [
      { name: 'CtlPlane', subnetName: 'subnet1', defaultRoute: true },
      { name: 'InternalApi', subnetName: 'subnet1', fixedIP: '172.17.0.150' },
      { name: 'Storage', subnetName: 'subnet1' },
      { name: 'Tenant', subnetName: 'subnet1' },
      { name: 'External', subnetName: 'subnet1' },
    ],
  },
}

/** The NetConfig, the IPSet and the status of the 2023 networking design, unchanged. */
export const design2023 = {
  netConfig: designConfig,
  ipSet: designIpSet,
  reservations: [
    {
      address: '192.168.122.100',
      cidr: '192.168.122.0/24',
      gateway: '192.168.122.1',
      mtu: 1500,
      network: 'CtlPlane',
      subnet: 'subnet1',
    },
    {
      address: '10.0.0.10',
      cidr: '10.0.0.0/24',
      gateway: '10.0.0.1',
      mtu: 1500,
      network: 'External',
      routes: [{ destination: '10.0.1.0/24', nexthop: '10.0.0.100' }],
      subnet: 'subnet1',
    },
    {
      address: '172.17.0.150',
      cidr: '172.17.0.0/24',
      mtu: 1500,
      network: 'InternalApi',
      subnet: 'subnet1',
      vlan: 20,
    },
    {
      address: '172.18.0.10',
      cidr: '172.18.0.0/24',
      mtu: 1500,
      network: 'Storage',
      subnet: 'subnet1',
      vlan: 30,
    },
    // The design shows 1500 here although its own NetConfig says 9000: the NetConfig is right.
    {
      address: '172.20.0.10',
      cidr: '172.20.0.0/24',
      mtu: 9000,
      network: 'Tenant',
      subnet: 'subnet1',
      vlan: 50,
    },
  ],
} satisfies { netConfig: NetConfig; ipSet: IpSet; reservations: readonly IpReservation[] }
