/** Defines the lab: VMs, stages, services, endpoints and certificates. */
import * as z from 'zod'
import { documentFields, finding, list } from './common.ts'

export const labDocument = z.object({
  ...documentFields,
  name: z.string(),
  nodes: list(
    z.object({
      id: z.string(),
      name: z.string(),
      roles: list(z.string()),
      status: z.string(),
      address: z.string(),
      next: z.string(),
      nominalGiB: z.number(),
      usedGiB: z.number().optional(),
    }),
  ),
  stages: list(
    z.object({ id: z.string(), name: z.string(), state: z.enum(['done', 'changed', 'pending', 'unneeded']) }),
  ),
  services: list(z.object({ id: z.string(), name: z.string(), enabled: z.boolean() })),
  endpoints: list(z.object({ id: z.string(), name: z.string(), url: z.string() })),
  certificates: list(
    z.object({
      id: z.string(),
      name: z.string(),
      subject: z.string(),
      notAfter: z.string(),
      daysLeft: z.number(),
      verdict: z.string(),
    }),
  ),
  disk: z.object({ usedGiB: z.number(), nominalGiB: z.number(), glanceGiB: z.number().optional() }),
  findings: list(finding),
})

export type LabDocument = z.infer<typeof labDocument>
