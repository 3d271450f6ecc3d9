/**
 * Simulates node sets and their deployments as in openstack-operator 0.6: `SetupReady` before any deployment, and `deployed`
 * when a deployment has finished; since 18.0-fr6 with a summary of every Ansible run. A deployment annotated
 * `sandbox.stackloom.dev/fails: MESSAGE` fails.
 */
import { type KubeObject, objectKey } from '../../../api/object.ts'
import type { Controller } from '../../../kube/controller.ts'
import { type ActorDeps, annotation } from '../actor.ts'
import { withTransitionTimes, writeStatus } from '../actor-status.ts'
import { ACTOR } from './control-plane.ts'
import { crdSource, servedSchema } from './spec-schema.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSets = { kind: { apiVersion: API, kind: 'OpenStackDataPlaneNodeSet' } }
const deployments = { kind: { apiVersion: API, kind: 'OpenStackDataPlaneDeployment' } }
const versions = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' } }
const NODE_SET_CRD = 'openstackdataplanenodesets.dataplane.openstack.org'
const DEPLOYMENT_FAILS = annotation('fails')

const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const
const asked = { status: 'False', reason: 'Requested', severity: 'Info', message: 'Deployment in progress' } as const

export function dataPlaneControllers({ runtime, stepMs }: ActorDeps): readonly Controller[] {
  const { client, cache } = runtime
  const crds = crdSource(NODE_SET_CRD)
  const nodeSetsOf = (deployment: KubeObject): readonly string[] =>
    (deployment['spec'] as { nodeSets?: readonly string[] }).nodeSets ?? []
  return [
    {
      name: 'openstack-nodeset',
      watches: [
        nodeSets,
        {
          ...crds,
          map: () =>
            cache(nodeSets)
              .list()
              .map(({ metadata }) => objectKey(metadata)),
        },
        {
          ...deployments,
          map: (deployment) => nodeSetsOf(deployment).map((name) => `${deployment.metadata.namespace}/${name}`),
        },
      ],
      reconcile: async ({ namespace = '', name }, { clock }) => {
        const nodeSet = cache(nodeSets).get(`${namespace}/${name}`)
        if (!nodeSet) return
        const nodeSetDeployments = cache(deployments)
          .list(namespace)
          .filter((deployment) => nodeSetsOf(deployment).includes(name))
        const deployed = nodeSetDeployments.some((deployment) => isDeployed(deployment))
        const last = deployed ? good : asked
        const conditions = [
          { type: 'Ready', ...last },
          { type: 'SetupReady', ...good },
          { type: 'DeploymentReady', ...last },
          { type: 'InputReady', ...good },
        ]
        const known = servedSchema(cache(crds).get(NODE_SET_CRD), 'status')?.properties ?? {}
        const status = {
          observedGeneration: nodeSet.metadata.generation,
          // A status with a field that the release does not have would be written again and again.
          ...('deploymentExecutionSummaries' in known && {
            deploymentExecutionSummaries: summarizeExecutions(nodeSet, nodeSetDeployments),
          }),
          conditions: withTransitionTimes(nodeSet, conditions, clock.now()),
        }
        await writeStatus(client, nodeSet, status, ACTOR)
      },
    },
    {
      name: 'openstack-dataplane-deployment',
      watches: [deployments],
      reconcile: async ({ namespace = '', name }, { clock }) => {
        const deployment = cache(deployments).get(`${namespace}/${name}`)
        if (!deployment || isDeployed(deployment)) return undefined
        const { generation, creationTimestamp = '', annotations } = deployment.metadata
        const why = annotations?.[DEPLOYMENT_FAILS]
        const due = Date.parse(creationTimestamp) + stepMs
        if (why === undefined && clock.now() < due) return { requeueAfterMs: stepMs }
        const bad = { status: 'False', reason: 'Error', severity: 'Error', message: why ?? '' } as const
        const state = why === undefined ? good : bad
        const target = findTargetVersion(cache(versions).list(namespace)[0])
        const conditions = [
          { type: 'Ready', ...state },
          { type: 'NodeSetDeploymentReady', ...state },
        ]
        const status = {
          observedGeneration: generation,
          deployed: why === undefined,
          ...(why === undefined && target !== undefined && { deployedVersion: target }),
          conditions: withTransitionTimes(deployment, conditions, clock.now()),
        }
        await writeStatus(client, deployment, status, ACTOR)
        return undefined
      },
    },
  ]
}

interface ExecutionSummary {
  readonly totalHosts: number
  readonly failedHosts: number
  readonly failurePercent: number
  readonly failedHostList?: readonly string[]
}

/** By deployment and service, for deployments that have ended. A failed deployment fails on every host of its first service. */
export function summarizeExecutions(
  nodeSet: KubeObject,
  deployments: readonly KubeObject[],
): Readonly<Record<string, Readonly<Record<string, ExecutionSummary>>>> {
  const { nodes = {}, services = [] } = nodeSet['spec'] as {
    readonly nodes?: Readonly<Record<string, unknown>>
    readonly services?: readonly string[]
  }
  const hosts = Object.keys(nodes)
  const success: ExecutionSummary = { totalHosts: hosts.length, failedHosts: 0, failurePercent: 0 }
  const failure: ExecutionSummary = {
    totalHosts: hosts.length,
    failedHosts: hosts.length,
    failurePercent: 100,
    failedHostList: hosts,
  }
  const entries = deployments.flatMap((deployment) => {
    const failed = deployment.metadata.annotations?.[DEPLOYMENT_FAILS] !== undefined
    if (!failed && !isDeployed(deployment)) return []
    const { servicesOverride = [] } = deployment['spec'] as { readonly servicesOverride?: readonly string[] }
    const ran = servicesOverride.length > 0 ? servicesOverride : services
    const summaries = failed ? ran.slice(0, 1).map((name) => [name, failure]) : ran.map((name) => [name, success])
    return [[deployment.metadata.name, Object.fromEntries(summaries)]]
  })
  return Object.fromEntries(entries)
}

function isDeployed(deployment: KubeObject): boolean {
  return (deployment['status'] as { deployed?: boolean } | undefined)?.deployed === true
}

/** Hosts get the target version of the cloud. */
function findTargetVersion(version: KubeObject | undefined): string | undefined {
  return (version?.['spec'] as { targetVersion?: string } | undefined)?.targetVersion
}
