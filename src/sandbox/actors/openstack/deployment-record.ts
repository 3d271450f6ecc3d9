/**
 * Computes what openstack-operator records of a deployment in the status of the deployment and of its node sets. Pure.
 *
 * The hash of a node set is not upstream's, which depends on the order of fields in Go: only that it changes with the spec.
 */
import { createHash } from 'node:crypto'
import { formatTimestamp, type KubeObject } from '../../../api/object.ts'
import { getField, getString } from '../../../api/raw-object.ts'
import { matchLimit } from '../../../dataplane/rules/ansible-limit.ts'
import {
  type Deployment,
  jobName,
  type NodeSet,
  readDeployment,
  readNodeSet,
  readService,
  readVersionImages,
  type Source,
  serviceCondition,
} from '../../../hosts/data-plane.ts'
import type { ContentRef } from '../../../hosts/hosts-input.ts'

export interface DeploymentInput {
  readonly deployment: KubeObject
  readonly nodeSets: readonly KubeObject[]
  readonly services: readonly KubeObject[]
  readonly version: KubeObject | undefined
  readonly failed: boolean
  /** Hosts on which it fails: by default all. */
  readonly failsOn?: readonly string[]
  readonly hashOf: (ref: ContentRef) => string | undefined
}

type Fields = Readonly<Record<string, unknown>>

export function servicesOf(nodeSet: KubeObject): readonly string[] {
  return readNodeSet(nodeSet).services
}

export function hashSpec(nodeSet: KubeObject): string {
  return createHash('sha256')
    .update(JSON.stringify(nodeSet['spec'] ?? {}))
    .digest('hex')
    .slice(0, 32)
}

/** Conditions and the hash of each node set; the rest only when all node sets are deployed. */
export function recordDeployment(input: DeploymentInput, now: number): Fields {
  const { deployment: object, version, failed, services } = input
  const deployment = readDeployment(object)
  const time = formatTimestamp(now)
  const condition = (type: string, isGood: boolean): Fields => ({
    // An ended deployment keeps its times: otherwise its status would be written again and again.
    lastTransitionTime: getField(object, 'status', 'nodeSetConditions') === undefined ? time : deployment.ended,
    message: isGood ? 'Deployment completed' : 'Deployment error occurred',
    reason: isGood ? 'Ready' : 'Error',
    ...(!isGood && { severity: 'Error' }),
    status: isGood ? 'True' : 'False',
    type,
  })
  const sets = input.nodeSets.map((nodeSet) => ({ object: nodeSet, ...readNodeSet(nodeSet) }))
  const nodeSetConditions = Object.fromEntries(
    sets.map((nodeSet) => {
      const ran = ranServices(deployment, nodeSet)
      // The first service fails, and none runs after it.
      const conditions = failed ? ran.slice(0, 1) : ran
      return [
        nodeSet.name,
        [
          condition('NodeSetDeploymentReady', !failed),
          ...conditions.map((service) => condition(serviceCondition(service), !failed)),
        ],
      ]
    }),
  )
  if (failed) return { nodeSetConditions }
  const byName = new Map(services.map(readService).map((service) => [service.name, service]))
  const used = sets.flatMap((nodeSet) => ranServices(deployment, nodeSet)).flatMap((name) => byName.get(name) ?? [])
  const sources = [
    ...used.flatMap((service) => service.sources),
    ...sets.flatMap((nodeSet) => [...nodeSet.sources, ...nodeSet.hosts.flatMap((host) => host.sources)]),
  ]
  const hashes = (kind: Source['kind']): Fields =>
    Object.fromEntries(
      sources
        .filter((source) => source.kind === kind)
        .flatMap(({ name }) => {
          const hash = input.hashOf({ kind, namespace: deployment.namespace, name })
          return hash === undefined ? [] : [[name, hash]]
        }),
    )
  const images = version ? readVersionImages(version) : {}
  return {
    nodeSetConditions,
    nodeSetHashes: Object.fromEntries(sets.map((nodeSet) => [nodeSet.name, hashSpec(nodeSet.object)])),
    secretHashes: hashes('Secret'),
    configMapHashes: hashes('ConfigMap'),
    containerImages: Object.fromEntries(
      used.flatMap(({ imageFields }) =>
        imageFields.flatMap((field) => (images[field] ? [[field, images[field]]] : [])),
      ),
    ),
  }
}

/** What a node set copies from its deployments. A limited deployment does not replace the hashes of Secrets. */
export function copyDeployments(nodeSet: KubeObject, deployments: readonly KubeObject[]): Fields {
  const { name } = nodeSet.metadata
  const current = hashSpec(nodeSet)
  const copies = {
    deployedConfigHash: getString(nodeSet, 'status', 'deployedConfigHash'),
    secretHashes: (getField(nodeSet, 'status', 'secretHashes') ?? {}) as Fields,
    configMapHashes: (getField(nodeSet, 'status', 'configMapHashes') ?? {}) as Fields,
    containerImages: (getField(nodeSet, 'status', 'containerImages') ?? {}) as Fields,
    deploymentStatuses: { ...((getField(nodeSet, 'status', 'deploymentStatuses') ?? {}) as Fields) },
  }
  const ordered = deployments.map((object) => ({ object, ...readDeployment(object) })).sort(byEnd)
  for (const deployment of ordered) {
    const conditions = deployment.nodeSetConditions[name]
    if (conditions) copies.deploymentStatuses[deployment.name] = conditions
    if (!deployment.isDeployed || deployment.nodeSetHashes[name] !== current) continue
    copies.deployedConfigHash = current
    copies.configMapHashes = { ...copies.configMapHashes, ...deployment.configMapHashes }
    copies.containerImages = { ...copies.containerImages, ...deployment.images }
    if (deployment.limit === '' || deployment.limit === '*') {
      const before = deployment.servicesOverride.length === 0 ? {} : copies.secretHashes
      copies.secretHashes = { ...before, ...deployment.secretHashes }
    }
  }
  return { ...copies, configHash: current }
}

function byEnd(a: Deployment, b: Deployment): number {
  if (a.ended === b.ended) return a.created < b.created ? -1 : 1
  return a.ended < b.ended ? -1 : 1
}

function ranServices({ servicesOverride }: Deployment, { services }: NodeSet): readonly string[] {
  return servicesOverride.length > 0 ? servicesOverride : services
}

interface ExecutionSummary {
  readonly totalHosts: number
  readonly failedHosts: number
  readonly unreachableHosts: number
  readonly failurePercent: number
  readonly failedHostList?: readonly string[]
}

/** By the name of the Job. A failed deployment fails in its first service. */
export function summarizeExecutions({
  deployment: object,
  nodeSets,
  failed,
  failsOn,
}: Pick<DeploymentInput, 'deployment' | 'nodeSets' | 'failed' | 'failsOn'>): Readonly<
  Record<string, ExecutionSummary>
> {
  const deployment = readDeployment(object)
  const entries = nodeSets.map(readNodeSet).flatMap((nodeSet) => {
    const hosts = nodeSet.hosts
      .map(({ name }) => name)
      .filter((host) => matchLimit(host, [nodeSet.name], deployment.limit) !== 'outside')
    const ran = ranServices(deployment, nodeSet)
    return (failed ? ran.slice(0, 1) : ran).map((service) => {
      const failedHosts = failed ? hosts.filter((host) => failsOn?.includes(host) ?? true) : []
      return [jobName(service, deployment.name, nodeSet.name), summarize(hosts.length, failedHosts)] as const
    })
  })
  return Object.fromEntries(entries)
}

function summarize(totalHosts: number, failed: readonly string[]): ExecutionSummary {
  const failurePercent = totalHosts === 0 ? 0 : Math.round((failed.length * 100) / totalHosts)
  const counts = { failedHosts: failed.length, failurePercent, totalHosts, unreachableHosts: 0 }
  return failed.length === 0 ? counts : { failedHostList: failed, ...counts }
}
