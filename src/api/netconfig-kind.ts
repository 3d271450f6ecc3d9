/** The kind NetConfig (network.openstack.org/v1beta1): its schema and CRD. */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import { networkGroup } from './netconfig.ts'

export const networkName = z
  .string()
  .max(253)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9\-_]*[a-zA-Z0-9]$/)
export const serviceNetworkName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9][a-z0-9\-_]*[a-z0-9]$/)
/** The longest IPv6 prefix with an embedded IPv4 address has 49 characters. */
export const addressText = z.string().max(64)
export const routeSchema = z.object({ destination: addressText, nexthop: addressText })

const domainName = z.string().max(253)

const subnetSchema = z.object({
  name: networkName,
  cidr: addressText.describe('the subnet, such as 172.17.0.0/24'),
  dnsDomain: domainName.optional().describe("the domain of this subnet's names; the network's by default"),
  vlan: z.int().max(4094).optional(),
  allocationRanges: z.array(z.object({ start: addressText, end: addressText })).max(256),
  excludeAddresses: z
    .array(addressText)
    .max(4096)
    .optional()
    .describe('addresses that are never assigned, fixed or not'),
  gateway: addressText.optional(),
  routes: z.array(routeSchema).max(256).optional(),
})

const netConfigNetworkSchema = z.object({
  name: networkName,
  // Required in the current API, absent in its first version: both are served.
  dnsDomain: domainName.optional(),
  mtu: z.int().default(1500),
  serviceNetwork: serviceNetworkName
    .optional()
    .describe('the service network that this network serves as; its own name by default'),
  subnets: z.array(subnetSchema).max(1024),
})

export const netConfigSpecSchema = z.object({ networks: z.array(netConfigNetworkSchema).max(256) })

export const netConfigKind: KindDefinition = {
  ...networkGroup,
  kind: 'NetConfig',
  plural: 'netconfigs',
  shortNames: ['netcfg', 'netscfg'],
  scope: 'Namespaced',
  spec: netConfigSpecSchema,
  status: z.object({}),
}
