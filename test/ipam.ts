/** NetConfigs and IPSets for tests: those of the conformance list, and what varies them. */
import type { IpSet, IpSetNetwork } from '../src/api/ipset.ts'
import type { NetConfig, NetConfigSpec } from '../src/api/netconfig.ts'

export const networkVersion = 'network.openstack.org/v1beta1'

export function netConfig(
  spec: NetConfigSpec,
  annotations: Readonly<Record<string, string>> = {},
): NetConfig {
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
  const wishes = networks.map((one) => ({ name: 'net-1', subnetName: 'subnet1', ...one }))
  return {
    apiVersion: networkVersion,
    kind: 'IPSet',
    metadata: { name, namespace },
    spec: { immutable: false, networks: wishes },
  }
}
