/** Defines the machine requirements of a role for phase -1: the fields of an OpenStackBaremetalSet. */
import * as z from 'zod'

export const secretReferenceSchema = z.object({
  name: z.string().optional(),
  namespace: z.string().optional(),
})

const exactMatch = z.boolean().optional()
const atLeastOne = z.int().min(1).optional()

const hardwareSchema = z.object({
  cpuReqs: z
    .object({
      arch: z.enum(['x86_64', 'ppc64le']).optional(),
      countReq: z.object({ exactMatch, count: atLeastOne }).optional(),
      mhzReq: z.object({ exactMatch, mhz: atLeastOne }).optional(),
    })
    .optional(),
  memReqs: z.object({ gbReq: z.object({ exactMatch, gb: atLeastOne }).optional() }).optional(),
  diskReqs: z
    .object({
      gbReq: z.object({ exactMatch, gb: atLeastOne }).optional(),
      ssdReq: z.object({ exactMatch, ssd: z.boolean().optional() }).optional(),
    })
    .optional(),
})

export const baremetalTemplateSchema = z.object({
  automatedCleaningMode: z.enum(['metadata', 'disabled']).default('metadata'),
  baremetalHosts: z
    .record(
      z.string(),
      z.object({
        ctlPlaneIP: z.string().optional(),
        userData: secretReferenceSchema.optional(),
        networkData: secretReferenceSchema.optional(),
      }),
    )
    .optional(),
  bmhLabelSelector: z.record(z.string(), z.string()).optional(),
  bmhNamespace: z.string().default('openshift-machine-api'),
  bootstrapDns: z.array(z.string()).optional(),
  cloudUserName: z.string().default('cloud-admin'),
  ctlplaneGateway: z.string().optional(),
  ctlplaneInterface: z.string(),
  ctlplaneNetmask: z.string().default('255.255.255.0'),
  deploymentSSHSecret: z.string(),
  dnsSearchDomains: z.array(z.string()).optional(),
  domainName: z.string().optional(),
  hardwareReqs: hardwareSchema.optional(),
  networkData: secretReferenceSchema.optional(),
  osImage: z.string().optional(),
  passwordSecret: secretReferenceSchema.optional(),
  provisionServerName: z.string().optional(),
  provisioningInterface: z.string().optional(),
  userData: secretReferenceSchema.optional(),
})

export type BaremetalTemplate = z.input<typeof baremetalTemplateSchema>
export type HardwareReqs = z.infer<typeof hardwareSchema>
export type SecretReference = z.infer<typeof secretReferenceSchema>
