/**
 * The built-in network templates: the defaults of networks with these names.
 *
 * Data only. The first cloud gets the well-known numbers of install_yamls, and every network has supernets for more than
 * two hundred clouds; designateext is not in 172.50.0.0/16, which is public address space.
 */
import type { SiteFileNetwork } from '../api/site.ts'

export interface NetworkTemplate extends SiteFileNetwork {
  /** Whether every cloud has it, or only those that name it. */
  readonly everywhere: boolean
}

const everyRole: SiteFileNetwork['roles'] = ['nodes', 'pods', 'vips', 'hosts']

/** A network of every cloud, to which pods attach by macvlan. */
function standard(roles: SiteFileNetwork['roles'], ...supernets: string[]): NetworkTemplate {
  return { everywhere: true, attach: 'macvlan', roles, supernets }
}

export const networkTemplates: Readonly<Record<string, NetworkTemplate>> = {
  ctlplane: {
    // Proposals: the first cloud of a NIC gets them, every further cloud its own VLAN and bridge.
    vlan: 'untagged',
    bridge: 'ospbr',
    ...standard(everyRole, '192.168.122.0-192.168.255.255', '10.122.0.0/16', 'fd00:aaaa::/48'),
  },
  internalapi: standard(everyRole, '172.17.0.0/16', 'fd00:bbbb::/48'),
  storage: standard(everyRole, '172.18.0.0/16', 'fd00:cccc::/48'),
  tenant: standard(everyRole, '172.19.0.0/16', 'fd00:dddd::/48'),
  storagemgmt: standard(['nodes', 'pods', 'hosts'], '172.20.0.0/16', 'fd00:dede::/48'),
  octavia: {
    everywhere: false,
    bridge: 'octbr',
    attach: 'bridge',
    roles: ['pods'],
    supernets: ['172.23.0.0/16', 'fd00:eeee::/48'],
    // The management network of the amphorae, behind a router that octavia places at .150.
    podRoutes: [
      { destination: '172.24.0.0/16', nexthop: '+150' },
      { destination: 'fd6c:6261:6173:1::/64', nexthop: '+150' },
    ],
  },
  designate: standard(['nodes', 'pods'], '172.28.0.0/16', 'fd00:eded::/48'),
  designateext: standard(['nodes', 'pods', 'vips'], '172.26.0.0/16', 'fd00:eaea::/48'),
  datacentre: { everywhere: true, attach: 'bridge', roles: [] },
  external: { everywhere: false, attach: 'none', roles: ['hosts'], supernets: ['10.0.0.0/16', 'fd00:ffff::/48'] },
}
