/** Defines the fields that the objects of all OpenStack services on nodes share (phase 1). */
import * as z from 'zod'
import type { SpecObject } from '../../api/object.ts'
import { dnsConfigSchema, networkAttachmentsSchema } from '../../api/pod.ts'
import { type Applied, appliedSchema, type CommonStatus, commonStatusFields } from './data-plane.ts'

/** Characters. Checking takes about a microsecond for each, in which no other object is reconciled. */
const MAX_CUSTOM_CONFIG = 64 * 1024

export const serviceSpecFields = {
  dataplaneNodeName: z.string().optional().describe('the OpenStackDataPlaneNode that this service runs on'),
  customServiceConfig: z
    .string()
    .max(MAX_CUSTOM_CONFIG)
    .optional()
    .describe('oslo.config text that wins over the generated one; never written by a controller'),
  defaultConfigOverwrite: z
    .record(z.string(), z.string())
    .meta({ maxProperties: 256 })
    .optional()
    .describe('further files for the host, by name'),
  inventoryConfigMapName: z
    .string()
    .optional()
    .describe('a Secret with this name is read first, then a ConfigMap; key `inventory`'),
  sshKeySecretName: z.string().optional().describe('key `ssh-privatekey`'),
  networkAttachments: networkAttachmentsSchema.optional(),
  deploy: z.boolean().default(true).describe('false: configuration is generated, nothing runs'),
  ansibleEEContainerImage: z.string().optional(),
  dnsConfig: dnsConfigSchema.optional(),
} as const

export interface ServiceSpec {
  readonly dataplaneNodeName?: string
  readonly customServiceConfig?: string
  readonly defaultConfigOverwrite?: Readonly<Record<string, string>>
  readonly inventoryConfigMapName?: string
  readonly sshKeySecretName?: string
  readonly networkAttachments?: readonly string[]
  readonly deploy?: boolean
  readonly ansibleEEContainerImage?: string
  readonly dnsConfig?: z.infer<typeof dnsConfigSchema>
  readonly [field: string]: unknown
}

export const serviceStatusSchema = z.object({
  ...commonStatusFields,
  hash: z.record(z.string(), z.string()).optional(),
  applied: z.record(z.string(), appliedSchema).optional().describe('what was done to the host, by step'),
})

export interface ServiceStatus extends CommonStatus {
  readonly hash?: Readonly<Record<string, string>>
  readonly applied?: Readonly<Record<string, Applied>>
}

export type ServiceObject = SpecObject<ServiceSpec, ServiceStatus>

/** A CEL rule for the API server: once set, a field cannot be changed or removed. */
export function immutableOnceSet(field: string, why: string): Readonly<Record<string, unknown>> {
  return {
    'x-kubernetes-validations': [
      {
        rule: `!has(oldSelf.${field}) || (has(self.${field}) && self.${field} == oldSelf.${field})`,
        message: why,
      },
    ],
  }
}
