/**
 * The Site kind: what a person writes. Shape only; defaults are `site/`'s, judgement is `plan/`'s.
 *
 * Every value under a cloud's networks is a pin: leave out what the planner may choose. Every field says what it is
 * for: editors show it, `stackloom schema` prints it.
 */
import * as z from 'zod'
import { cloudSchema, type host, networkSchema, type nodeSet } from './site-cloud.ts'
import { type bgpPeer, type bond, cluster } from './site-cluster.ts'
import { label, offsets, text, vlanId } from './site-values.ts'

const addressing = z.strictObject({
  isolation: z
    .enum(['vlan-per-cloud', 'shared-vlan'])
    .optional()
    .describe('own segments for every cloud (default), or one VLAN per network shared by all clouds')
    .meta({ default: 'vlan-per-cloud' }),
  families: z
    .array(z.union([z.literal(4), z.literal(6)]))
    .min(1)
    .optional()
    .describe('IP versions that every network has, [4] by default')
    .meta({ default: [4], examples: [[4, 6]] }),
  vlans: z
    .strictObject({
      first: vlanId.describe('the lowest VLAN id to give'),
      last: vlanId.describe('the highest VLAN id to give'),
    })
    .optional()
    .describe('VLAN ids that the planner may give, 20 to 4094 by default')
    .meta({ default: { first: 20, last: 4094 } }),
  prefixLength: z
    .strictObject({
      ipv4: z.int().min(8).max(29).optional().describe('24 by default').meta({ default: 24 }),
      ipv6: z.int().min(16).max(124).optional().describe('64 by default').meta({ default: 64 }),
    })
    .optional()
    .describe("the size of a cloud's subnets"),
  layout: z
    .strictObject({
      nodes: offsets.optional().describe('cluster nodes').meta({ default: '5-29' }),
      pods: offsets.optional().describe('pods').meta({ default: '30-70' }),
      vips: offsets.optional().describe('LoadBalancer Services').meta({ default: '80-90' }),
      hosts: offsets.optional().describe('data plane hosts').meta({ default: '100-250' }),
    })
    .optional()
    .describe('spans as host offsets, such as {vips: 80-90}, for subnets without spans'),
})

const acceptance = z.strictObject({
  code: text
    .describe('the code of the finding, such as SL2101')
    .meta({ pattern: '^SL[0-9]{4}$', examples: ['SL2101'] }),
  where: text.optional().describe('a word of the finding, such as rhoso1/designateext; everywhere by default'),
  reason: text.describe('why this is accepted, for later readers of the file'),
})

const siteSpecSchema = z.strictObject({
  cluster: cluster.describe('the one cluster that all clouds of this site run on'),
  addressing: addressing.optional().describe('how the planner chooses what the file leaves open'),
  networks: z
    .record(z.string(), z.union([networkSchema, z.literal(false)]))
    .optional()
    .describe('templates: what a network of this name is in every cloud; false: no cloud has it')
    .meta({ names: 'network' }),
  clouds: z.array(cloudSchema).describe('the clouds, in any order'),
  accept: z.array(acceptance).optional().describe('findings that you accept'),
})

export const siteSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1').describe('the version of this format'),
  kind: z.literal('Site').describe('always Site'),
  metadata: z
    .looseObject({ name: label.describe('the name of the site') })
    .describe('name, labels and annotations, as of any Kubernetes object'),
  spec: siteSpecSchema.describe('the cluster and the clouds on it'),
})

/** The file as written. */
export type SiteFile = z.infer<typeof siteSchema>
export type SiteFileSpec = z.infer<typeof siteSpecSchema>
export type SiteFileCloud = z.infer<typeof cloudSchema>
export type SiteFileNetwork = z.infer<typeof networkSchema>
export type SiteFileHost = z.infer<typeof host>
export type SiteFileNodeSet = z.infer<typeof nodeSet>
export type SiteFileBond = z.infer<typeof bond>
export type SiteFilePeer = z.infer<typeof bgpPeer>
