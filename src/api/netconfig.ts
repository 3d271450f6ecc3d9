/** NetConfig (network.openstack.org/v1beta1): the networks of one cloud, for its data plane. */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import type { SpecObject } from './object.ts'

export const networkGroup = { group: 'network.openstack.org', version: 'v1beta1' } as const
export const networkVersion = `${networkGroup.group}/${networkGroup.version}` as const
export const netConfigs = { apiVersion: networkVersion, kind: 'NetConfig' } as const

export const networkName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9\-_]*[a-zA-Z0-9]$/)
export const serviceNetworkName = z.string().regex(/^[a-z0-9][a-z0-9\-_]*[a-z0-9]$/)
export const routeSchema = z.object({ destination: z.string(), nexthop: z.string() })

const subnetSchema = z.object({
  name: networkName,
  cidr: z.string().describe('the subnet, such as 172.17.0.0/24'),
  dnsDomain: z.string().optional().describe("the domain of this subnet's names; the network's by default"),
  vlan: z.int().max(4094).optional(),
  allocationRanges: z.array(z.object({ start: z.string(), end: z.string() })),
  excludeAddresses: z.array(z.string()).optional().describe('addresses that nobody gets, fixed or not'),
  gateway: z.string().optional(),
  routes: z.array(routeSchema).optional(),
})

const netConfigNetworkSchema = z.object({
  name: networkName,
  // Today's API wants a domain, that of 2023 has none: both are served.
  dnsDomain: z.string().optional(),
  mtu: z.int().default(1500),
  serviceNetwork: serviceNetworkName
    .optional()
    .describe('the service network that this one plays; its own name by default'),
  subnets: z.array(subnetSchema),
})

const netConfigSpecSchema = z.object({ networks: z.array(netConfigNetworkSchema) })

export type NetConfigSpec = z.infer<typeof netConfigSpecSchema>
export type NetConfigNetwork = NetConfigSpec['networks'][number]
export type NetConfigSubnet = NetConfigNetwork['subnets'][number]
export type NetConfig = SpecObject<NetConfigSpec>

export const netConfigKind: KindDefinition = {
  ...networkGroup,
  kind: 'NetConfig',
  plural: 'netconfigs',
  shortNames: ['netcfg', 'netscfg'],
  scope: 'Namespaced',
  spec: netConfigSpecSchema,
  status: z.object({}),
}

/** A network and subnet by name, whatever the case: NetConfig's own spelling is what counts. */
export function findSubnet(
  spec: NetConfigSpec,
  network: string,
  subnet: string,
): { readonly network?: NetConfigNetwork; readonly subnet?: NetConfigSubnet } {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
  const found = spec.networks.find((one) => same(one.name, network))
  const within = found?.subnets.find((one) => same(one.name, subnet))
  return { ...(found && { network: found }), ...(within && { subnet: within }) }
}

/** The NetConfig of a namespace: there should be one; of several the oldest counts, the same for everybody. */
export function selectNetConfig(all: readonly NetConfig[]): NetConfig | undefined {
  const order = ({ metadata }: NetConfig): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return all.reduce<NetConfig | undefined>(
    (first, one) => (first === undefined || order(one) < order(first) ? one : first),
    undefined,
  )
}

/** The service network that something plays: what it says, or its own name. An empty text says nothing. */
export function resolveServiceNetwork(name: string, said: string | undefined): string {
  return (said || name).toLowerCase()
}
