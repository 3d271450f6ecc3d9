/** The values that several parts of a site file have: addresses, names, VLAN ids. Shape only. */
import * as z from 'zod'

// Patterns, ranges, examples and defaults in `meta` are for editors and the reference page. The planner checks the values
// themselves, with findings that know the rest of the file.
export const text = z.string().min(1)
export const label = text.meta({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' })
export const domain = text.meta({ pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$' })
export const address = text
  .describe('an IP address, such as 172.17.0.80')
  .meta({ pattern: '^[0-9a-fA-F.:]+$', examples: ['172.17.0.80', 'fd00:bbbb::50'] })
export const cidr = text
  .describe('a network in CIDR form, such as 172.17.0.0/24')
  .meta({ pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$', examples: ['172.17.0.0/24', 'fd00:bbbb::/64'] })
const rangeText = text.meta({ pattern: '^[0-9a-fA-F.:]+( *- *[0-9a-fA-F.:]+|/[0-9]{1,3})?$' })
export const span = z
  .union([rangeText, z.array(rangeText)])
  .describe('addresses: a range such as 172.17.0.80-172.17.0.90, one address, or a list of these')
  .meta({ examples: ['172.17.0.80-172.17.0.90'] })
const offsetText = text.meta({ pattern: '^[0-9]{1,9}(-[0-9]{1,9})?$' })
export const offsets = z.union([offsetText, z.array(offsetText)]).meta({ examples: ['80-90'] })
export const raw = z.record(z.string(), z.unknown())
export const addresses = z.union([address, z.array(address)]).describe('one address, or one of each family')

export const mtu = z.int().min(68).max(9216)
export const asn = z.int().min(1).max(4_294_967_295)
/** The planner checks the ids of networks (SL2204) and of the range (SL2010); this is for editors. */
export const vlanId = z.int().meta({ minimum: 1, maximum: 4094 })
export const vlanRange = text.meta({ pattern: '^[0-9]{1,4}-[0-9]{1,4}$' })
/** Not empty by `text`. At most 15 characters, which SL2501 reports with the name that exceeds them. */
export const interfaceName = text.regex(
  /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/,
  'an interface name of letters, digits, dots, dashes and underscores',
)
