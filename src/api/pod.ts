/** Schemas of the parts of a pod that the data plane kinds pass on to the pod that runs Ansible. */
import * as z from 'zod'
import { preserveUnknown } from './crd.ts'

const raw = z.record(z.string(), z.unknown()).meta(preserveUnknown)

export const envVarSchema = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: raw.optional(),
})

const volumeMountSchema = z.object({
  name: z.string(),
  mountPath: z.string(),
  mountPropagation: z.string().optional(),
  readOnly: z.boolean().optional(),
  subPath: z.string().optional(),
  subPathExpr: z.string().optional(),
})

/** lib-common's description of volumes and their mounts. The API server checks the sources of a volume. */
export const extraMountSchema = z.object({
  propagation: z.array(z.string()).optional(),
  extraVolType: z.string().optional(),
  volumes: z.array(z.looseObject({ name: z.string() }).meta(preserveUnknown)),
  mounts: z.array(volumeMountSchema),
})

export const dnsConfigSchema = z.object({
  nameservers: z.array(z.string()).optional(),
  options: z.array(z.object({ name: z.string().optional(), value: z.string().optional() })).optional(),
  searches: z.array(z.string()).optional(),
})

/** A Kubernetes container; the API server checks it when the pod is created. */
export const containerSchema = z.looseObject({ name: z.string() }).meta(preserveUnknown)

export type EnvVar = z.infer<typeof envVarSchema>
export type ExtraMount = z.infer<typeof extraMountSchema>
export type DnsConfig = z.infer<typeof dnsConfigSchema>
