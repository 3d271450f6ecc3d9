/** Schemas of the parts of a pod that the data plane kinds pass on to the pod that runs Ansible. */
import * as z from 'zod'
import { preserveUnknown } from './crd.ts'

const raw = z.record(z.string(), z.unknown()).meta(preserveUnknown)

/** Lists of one object that every reconcile walks; more than any pod has. */
const MAX_ENTRIES = 256

const envVarSchema = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: raw.optional(),
})

export const envSchema = z.array(envVarSchema).max(MAX_ENTRIES)

const volumeMountSchema = z.object({
  name: z.string(),
  mountPath: z.string(),
  mountPropagation: z.string().optional(),
  readOnly: z.boolean().optional(),
  subPath: z.string().optional(),
  subPathExpr: z.string().optional(),
})

/** lib-common's description of volumes and their mounts. The API server checks the sources of a volume. */
const extraMountSchema = z.object({
  propagation: z.array(z.string()).optional(),
  extraVolType: z.string().optional(),
  volumes: z.array(z.looseObject({ name: z.string() }).meta(preserveUnknown)).max(MAX_ENTRIES),
  mounts: z.array(volumeMountSchema).max(MAX_ENTRIES),
})

export const extraMountsSchema = z.array(extraMountSchema).max(MAX_ENTRIES)
export const networkAttachmentsSchema = z.array(z.string()).max(MAX_ENTRIES)

export const dnsConfigSchema = z.object({
  nameservers: z.array(z.string()).optional(),
  options: z.array(z.object({ name: z.string().optional(), value: z.string().optional() })).optional(),
  searches: z.array(z.string()).optional(),
})

/** Kubernetes containers; the API server checks them when the pod is created. */
export const initContainersSchema = z.array(z.looseObject({ name: z.string() }).meta(preserveUnknown)).max(MAX_ENTRIES)

export type EnvVar = z.infer<typeof envVarSchema>
export type ExtraMount = z.infer<typeof extraMountSchema>
export type DnsConfig = z.infer<typeof dnsConfigSchema>
