/**
 * Simulates node sets and their deployments as in openstack-operator 0.6: `SetupReady` before any deployment, and `deployed`
 * when a deployment has finished. A deployment annotated `sandbox.stackloom.dev/fails: MESSAGE` fails.
 */
import type { KubeObject } from '../../../api/object.ts'
import type { Controller } from '../../../kube/controller.ts'
import { type ActorDeps, annotation } from '../actor.ts'
import { withTransitionTimes, writeStatus } from '../actor-status.ts'
import { ACTOR } from './control-plane.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSets = { kind: { apiVersion: API, kind: 'OpenStackDataPlaneNodeSet' } }
const deployments = { kind: { apiVersion: API, kind: 'OpenStackDataPlaneDeployment' } }
const versions = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' } }
const DEPLOYMENT_FAILS = annotation('fails')

const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const
const asked = { status: 'False', reason: 'Requested', severity: 'Info', message: 'Deployment in progress' } as const

export function dataPlaneControllers({ runtime, stepMs }: ActorDeps): readonly Controller[] {
  const { client, cache } = runtime
  const nodeSetsOf = (deployment: KubeObject): readonly string[] =>
    (deployment['spec'] as { nodeSets?: readonly string[] }).nodeSets ?? []
  return [
    {
      name: 'openstack-nodeset',
      watches: [
        nodeSets,
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
        const status = {
          observedGeneration: nodeSet.metadata.generation,
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

function isDeployed(deployment: KubeObject): boolean {
  return (deployment['status'] as { deployed?: boolean } | undefined)?.deployed === true
}

/** Hosts get the target version of the cloud. */
function findTargetVersion(version: KubeObject | undefined): string | undefined {
  return (version?.['spec'] as { targetVersion?: string } | undefined)?.targetVersion
}
