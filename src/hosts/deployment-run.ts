/** Reads what deployments did to one node set, from the deployments and from what the node set remembers of deleted ones. */
import { getOwn } from '../api/collections.ts'
import type { Condition } from '../api/object.ts'
import { type Deployment, type NodeSet, serviceCondition, type Texts } from './data-plane.ts'
import { type FailureLookup, indexFailures, nodeSetOutcome } from './deployment-outcome.ts'
import { compareText } from './name-order.ts'

/** What a deployment did to one node set. */
export interface DeploymentRun extends FailureLookup {
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
  const planned = new Set(servicesOverride.length > 0 ? servicesOverride : services)
  const hasConditions = conditions.some(({ type }) => type.startsWith('Service'))
  const here = trueTypes(conditions)
  const everywhere = once(() => trueTypes(Object.values(deployment.nodeSetConditions).flat()))
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
      if (!hasConditions) return planned.has(service)
      return (isGlobal(service) ? everywhere() : here).has(serviceCondition(service))
    },
    ...indexFailures(deployment, nodeSet),
  }
}

function trueTypes(conditions: readonly Condition[]): ReadonlySet<string> {
  return new Set(conditions.flatMap(({ type, status }) => (status === 'True' ? [type] : [])))
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
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
  const ran = trueTypes(serviceConditions)
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
      ran: (service) => serviceConditions.length === 0 || isGlobal(service) || ran.has(serviceCondition(service)),
      failures: () => [],
      isNamed: () => false,
    },
  ]
}
