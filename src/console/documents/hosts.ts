/** Defines hosts: equal hosts folded, one cell per service, certificates, runs, and IPSets that wait. */
import * as z from 'zod'
import { documentFields, list } from './common.ts'

const hostVerdict = z.enum(['failed', 'behind', 'never', 'unknown', 'running', 'current'])

const serviceCell = z.object({
  /** The service. */
  id: z.string(),
  state: z.enum(['current', 'behind', 'failed', 'unreachable', 'never', 'running', 'unknown']),
  reason: z.string().optional(),
})

const hostGroup = z.object({
  id: z.string(),
  /** `compute-[0-95]` */
  label: z.string(),
  hosts: list(z.string()),
  verdict: hostVerdict,
  /** Why; empty for hosts that are current. */
  reason: z.string(),
  deployment: z.string().optional(),
  limit: z.string().optional(),
  cells: list(serviceCell),
})

const nodeSet = z.object({
  /** `openstack/edpm` */
  id: z.string(),
  cloud: z.string(),
  namespace: z.string(),
  name: z.string(),
  total: z.number(),
  /** `96 alike, 4 differ` */
  alike: z.string().optional(),
  /** Columns of the matrix. */
  services: list(z.string()),
  /** The largest first. */
  groups: list(hostGroup),
})

const certificateLine = z.object({
  id: z.string(),
  cloud: z.string(),
  name: z.string(),
  verdict: z.enum(['expired', 'critical', 'unreadable', 'soon', 'due', 'valid']),
  daysLeft: z.number().optional(),
  notAfter: z.string().optional(),
  /** Hosts and pods that still have the old value. */
  olderCopyIn: z.string(),
})

const deploymentLine = z.object({
  /** `openstack/edpm-deploy-1` */
  id: z.string(),
  cloud: z.string(),
  namespace: z.string(),
  name: z.string(),
  nodeSets: list(z.string()),
  state: z.enum(['running', 'succeeded', 'failed']),
  createdAt: z.string().optional(),
  reason: z.string().optional(),
})

export const hostsDocument = z.object({
  ...documentFields,
  nodeSets: list(nodeSet),
  /** The worst first. */
  certificates: list(certificateLine),
  /** The newest first. */
  deployments: list(deploymentLine),
  waiting: list(
    z.object({ id: z.string(), cloud: z.string(), network: z.string(), owner: z.string(), why: z.string() }),
  ),
  /** Used addresses of the hosts' subnets over time: while this console runs, and before that from a Prometheus. */
  use: list(
    z.object({
      id: z.string(),
      cloud: z.string(),
      network: z.string(),
      of: z.string(),
      points: list(z.object({ time: z.string(), used: z.number() })),
    }),
  ),
  summary: z.string(),
})

export const deploymentDocument = z.object({
  ...documentFields,
  namespace: z.string(),
  deployment: z.string(),
  logs: list(z.object({ id: z.string(), service: z.string(), pod: z.string(), output: z.string() })),
})

export type HostGroup = z.infer<typeof hostGroup>
export type NodeSetLine = z.infer<typeof nodeSet>
export type HostsDocument = z.infer<typeof hostsDocument>
export type DeploymentDocument = z.infer<typeof deploymentDocument>
