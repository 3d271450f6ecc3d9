/** Reads what deployments did to one node set, from the deployments and from what the node set remembers of deleted ones. */
import { getOwn } from '../api/collections.ts'
import { type Deployment, type NodeSet, serviceCondition, type Texts } from './data-plane.ts'
import { type FailureLookup, indexFailures, nodeSetOutcome } from './deployment-outcome.ts'
import { compareText } from './name-order.ts'

/** What a deployment did to one node set. */
export interface DeploymentRun {
  /** Undefined for a deployment that was deleted and left only the copies in the node set's status. */
  readonly deployment: Deployment | undefined
  readonly name: string
  readonly outcome: 'succeeded' | 'failed' | 'running'
  readonly created: string
  readonly ended: string
  readonly limit: string
  readonly isPartial: boolean
  /** Undefined: unknown hash. */
  readonly configHash: string | undefined
  readonly machineHash: string | undefined
  /** A missing hash means that the object was not deployed; otherwise nothing can be said. */
  readonly isComplete: boolean
  readonly secretHashes: Texts
  readonly configMapHashes: Texts
  readonly images: Texts
  readonly ran: (service: string) => boolean
  readonly failures: FailureLookup
}

type IsGlobal = (service: string) => boolean

/** In the order in which they ended. */
export function readRuns(
  nodeSet: NodeSet,
  deployments: readonly Deployment[],
  isGlobal: IsGlobal,
): readonly DeploymentRun[] {
  return [
    ...recordedRun(nodeSet, deployments, isGlobal),
    ...deployments.map((deployment) => toRun(deployment, nodeSet, isGlobal)),
  ].sort(compareEnds)
}

/** Times have whole seconds, in which several deployments may end. */
function compareEnds(a: DeploymentRun, b: DeploymentRun): number {
  return (
    compareText(a.ended, b.ended) ||
    compareText(a.created, b.created) ||
    (a.deployment?.revision ?? 0) - (b.deployment?.revision ?? 0)
  )
}

function toRun(deployment: Deployment, nodeSet: NodeSet, isGlobal: IsGlobal): DeploymentRun {
  const { name, services } = nodeSet
  const conditions = getOwn(deployment.nodeSetConditions, name) ?? []
  const { servicesOverride } = deployment
  const planned = servicesOverride.length > 0 ? servicesOverride : services
  const outcome = nodeSetOutcome(deployment, name)
  return {
    deployment,
    name: deployment.name,
    outcome,
    created: deployment.created,
    ended: deployment.ended,
    limit: deployment.limit,
    isPartial: deployment.tags !== '',
    configHash: getOwn(deployment.nodeSetHashes, name),
    machineHash: getOwn(deployment.machineHashes, name),
    isComplete: deployment.isDeployed,
    secretHashes: deployment.secretHashes,
    configMapHashes: deployment.configMapHashes,
    images: deployment.images,
    ran: (service) => {
      // A service that was added to the node set later has no condition here.
      const hasConditions = conditions.some(({ type }) => type.startsWith('Service'))
      if (!hasConditions) return planned.includes(service)
      const type = serviceCondition(service)
      const searched = isGlobal(service) ? Object.values(deployment.nodeSetConditions).flat() : conditions
      return searched.some((condition) => condition.type === type && condition.status === 'True')
    },
    failures: indexFailures(deployment, nodeSet),
  }
}

/** The copies of the last deployment in the status of the node set, for a deployment that was deleted. */
function recordedRun(nodeSet: NodeSet, existing: readonly Deployment[], isGlobal: IsGlobal): readonly DeploymentRun[] {
  const names = new Set(existing.map(({ name }) => name))
  const deleted = Object.entries(nodeSet.deploymentConditions).flatMap(([name, conditions]) => {
    const ready = conditions.find(({ type }) => type === 'NodeSetDeploymentReady')
    if (names.has(name) || ready?.status !== 'True') return []
    return [{ name, conditions, ended: ready.lastTransitionTime ?? '' }]
  })
  const last = deleted.sort((a, b) => compareText(a.ended, b.ended)).at(-1)
  const finished = existing.filter((deployment) => nodeSetOutcome(deployment, nodeSet.name) === 'succeeded')
  if (!last && (finished.length > 0 || nodeSet.deployedConfigHash === undefined)) return []
  const ended = last?.ended ?? ''
  // A later deployment has replaced the copies, so those of the deleted one are lost.
  const isKept = finished.every((deployment) => deployment.ended <= ended)
  const serviceConditions = (last?.conditions ?? []).filter(({ type }) => type.startsWith('Service'))
  return [
    {
      deployment: undefined,
      name: last?.name ?? '(deleted)',
      outcome: 'succeeded',
      created: ended,
      ended,
      limit: '',
      isPartial: false,
      configHash: isKept ? nodeSet.deployedConfigHash : undefined,
      machineHash: undefined,
      isComplete: false,
      secretHashes: isKept ? nodeSet.secretHashes : {},
      configMapHashes: isKept ? nodeSet.configMapHashes : {},
      images: isKept ? nodeSet.images : {},
      ran: (service) =>
        serviceConditions.length === 0 ||
        isGlobal(service) ||
        serviceConditions.some(({ type, status }) => type === serviceCondition(service) && status === 'True'),
      failures: () => [],
    },
  ]
}
