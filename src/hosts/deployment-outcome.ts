/** Tells how a deployment ended for a node set and on which hosts it failed. Pure. */
import { getOwn } from '../api/collections.ts'
import { type Deployment, jobName, type NodeSet } from './data-plane.ts'

export interface HostFailure {
  readonly deployment: string
  /** Undefined where the operator does not name the service. */
  readonly service?: string
  /** `unknown`: the deployment names no hosts, so every host that it selected may have failed. */
  readonly reason: 'failed' | 'unreachable' | 'unknown'
  /** The error of the deployment. */
  readonly message?: string
  /** From the log of the run, while its pod exists. */
  readonly task?: string
  readonly cause?: string
}

export function nodeSetOutcome(deployment: Deployment, nodeSet: string): 'succeeded' | 'failed' | 'running' {
  if (deployment.isDeployed) return 'succeeded'
  const conditions = getOwn(deployment.nodeSetConditions, nodeSet)
  const ready = conditions?.find(({ type }) => type === 'NodeSetDeploymentReady')
  if (ready?.status === 'True') return 'succeeded'
  if (ready?.status === 'False' && ready.severity === 'Error') return 'failed'
  return deployment.error === undefined ? 'running' : 'failed'
}

/** The failures of hosts. Built once per deployment and node set, because a node set has hundreds of hosts. */
export interface FailureLookup {
  readonly failures: (host: string) => readonly HostFailure[]
  /** Whether the deployment names this host. */
  readonly isNamed: (host: string) => boolean
}

/** The summaries of Ansible name hosts since 18.0-fr6, also in a deployment that tolerates failed hosts. */
export function indexFailures(deployment: Deployment, nodeSet: NodeSet): FailureLookup {
  const about = { deployment: deployment.name, ...(deployment.error !== undefined && { message: deployment.error }) }
  const named = new Map<string, HostFailure[]>()
  for (const { service, failed, unreachable } of summariesOf(deployment, nodeSet)) {
    const where = service === undefined ? about : { ...about, service }
    const lost = new Set(unreachable)
    for (const host of new Set([...unreachable, ...failed])) {
      const reason = lost.has(host) ? 'unreachable' : 'failed'
      named.set(host, [...(named.get(host) ?? []), { ...where, reason }])
    }
  }
  const isUnnamed = named.size === 0 && nodeSetOutcome(deployment, nodeSet.name) === 'failed'
  const service = isUnnamed ? failedService(deployment, nodeSet) : undefined
  const every: readonly HostFailure[] = isUnnamed
    ? [{ ...about, ...(service !== undefined && { service }), reason: 'unknown' }]
    : []
  return { failures: (host) => named.get(host) ?? every, isNamed: (host) => named.has(host) }
}

interface NodeSetSummary {
  readonly service: string | undefined
  readonly failed: readonly string[]
  readonly unreachable: readonly string[]
}

/** Without those of other node sets of the deployment, which may have hosts of the same name. */
function summariesOf(deployment: Deployment, { name, services }: NodeSet): readonly NodeSetSummary[] {
  const ran = [...new Set([...deployment.servicesOverride, ...services])]
  const owner = new Map<string, string>()
  for (const service of ran) {
    for (const nodeSet of [...deployment.nodeSets, undefined])
      if (nodeSet !== name) owner.set(jobName(service, deployment.name, nodeSet), nodeSet === undefined ? service : '')
    owner.set(jobName(service, deployment.name, name), service)
  }
  return Object.entries(deployment.summaries).flatMap(([job, summary]) => {
    const service = owner.get(job)
    return service === '' ? [] : [{ service, ...summary }]
  })
}

/** The service whose condition has an error. */
function failedService(deployment: Deployment, { name, services }: NodeSet): string | undefined {
  const failed = getOwn(deployment.nodeSetConditions, name)?.find(
    ({ type, status, severity }) => type.startsWith('Service') && status === 'False' && severity === 'Error',
  )
  if (!failed) return undefined
  return [...deployment.servicesOverride, ...services].find(
    (service) =>
      failed.type.toLowerCase() === `service${service.replaceAll(/[-_. ]/g, '').toLowerCase()}deploymentready`,
  )
}
