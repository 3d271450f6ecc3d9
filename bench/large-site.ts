/** Builds the largest site with promised figures: eight networks, 250 hosts per cloud, dual stack. */
import { buildSite } from '../src/site/defaults.ts'
import type { Site } from '../src/site/site.ts'

const NETWORKS = ['ctlplane', 'internalapi', 'storage', 'tenant', 'storagemgmt', 'designate', 'designateext', 'octavia']
export function largeSite(clouds: number): Site {
  const allRoles = { roles: ['nodes' as const, 'pods' as const, 'vips' as const, 'hosts' as const] }
  return buildSite({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'large' },
    spec: {
      cluster: { nodes: [0, 1, 2].map((index) => ({ name: `worker-${index}`, nic: 'enp6s0' })) },
      // 250 hosts plus nodes, pods and VIPs do not fit in a /24.
      addressing: { families: [4, 6], prefixLength: { ipv4: 23 }, layout: { hosts: '100-400' } },
      networks: Object.fromEntries(NETWORKS.map((name) => [name, allRoles])),
      clouds: Array.from({ length: clouds }, (_, cloud) => ({
        name: `cloud${cloud}`,
        namespace: `openstack${cloud}`,
        networks: { datacentre: false as const },
        hosts: Array.from({ length: 250 }, (_, host) => ({ name: `cloud${cloud}-compute-${host}` })),
      })),
    },
  })
}
