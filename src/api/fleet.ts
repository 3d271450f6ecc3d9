/** Defines the schema of the fleet file: several sites, each with its file and its cluster. Shape only. */
import * as z from 'zod'

const text = z.string().min(1)
const name = text
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'a name of lower-case letters, digits and dashes')
  .meta({ examples: ['berlin'] })

const site = z.strictObject({
  name: name.describe('name of the site in tables and messages'),
  file: text.describe('its site file; relative paths start at the fleet file').meta({ examples: ['berlin/site.yaml'] }),
  lock: text.optional().describe('its lock file, if it is not beside the site file'),
  context: text.optional().describe('context of the kubeconfig; its current context by default'),
  kubeconfig: text.optional().describe('its kubeconfig; KUBECONFIG or ~/.kube/config by default'),
  routers: z
    .array(name)
    .optional()
    .describe('routers or routing domains of the site; the subnets of sites that share one must differ')
    .meta({ examples: [['frankfurt-core']] }),
  canary: z
    .boolean()
    .optional()
    .describe('updated before the others, which wait for `update.pause`; without one the first site is the canary')
    .meta({ default: false }),
})

const update = z.strictObject({
  pause: text
    .regex(/^(\d+(\.\d+)?(ms|s|m|h))+$/, 'a duration such as 30m or 24h')
    .optional()
    .describe('how long the canaries run the new version before other sites are updated; 0s by default')
    .meta({ default: '0s', examples: ['24h'] }),
})

export const fleetSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1').describe('version of this format'),
  kind: z.literal('Fleet').describe('always Fleet'),
  metadata: z.strictObject({ name: name.describe('name of the fleet') }).describe('name of the fleet'),
  spec: z
    .strictObject({
      sites: z.array(site).min(1).describe('the sites, in the order of updates'),
      update: update.optional().describe('how `update --fleet` goes from site to site'),
    })
    .describe('the sites of the fleet'),
})

export type FleetFile = z.infer<typeof fleetSchema>
export type FleetSite = FleetFile['spec']['sites'][number]
