/**
 * Simulates the minor update of an OpenStackVersion as in openstack-operator 0.6: OVN on the control plane, OVN on the hosts,
 * the control plane, the hosts. The annotation `sandbox.stackloom.dev/available: VERSION` simulates an updated operator.
 */
import type { Condition, KubeObject } from '../../../api/object.ts'
import type { Controller } from '../../../kube/controller.ts'
import { type ActorDeps, annotation } from '../actor.ts'
import { withTransitionTimes, writeStatus } from '../actor-status.ts'

const ACTOR = 'actor-openstack'
const DATA_PLANE = 'dataplane.openstack.org/v1beta1'
const versions = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' } }
const nodeSets = { kind: { apiVersion: DATA_PLANE, kind: 'OpenStackDataPlaneNodeSet' } }
const deployments = { kind: { apiVersion: DATA_PLANE, kind: 'OpenStackDataPlaneDeployment' } }

/** The version of the simulated operator. */
export const OPERATOR_VERSION = '0.6.0'
export const AVAILABLE = annotation('available')

type Draft = Omit<Condition, 'lastTransitionTime'>

export interface VersionStatus {
  readonly availableVersion: string
  readonly deployedVersion?: string
  readonly containerImageVersionDefaults: Readonly<Record<string, object>>
  readonly conditions: readonly Draft[]
  /** Whether the next step needs no user action. */
  readonly inProgress: boolean
}

export interface DataPlaneState {
  readonly nodeSets: readonly string[]
  readonly deployments: readonly KubeObject[]
}

const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const
const busy = { status: 'False', reason: 'Requested', severity: 'Info', message: 'Minor update in progress' } as const

function findAvailableVersion(version: KubeObject | undefined): string {
  return version?.metadata.annotations?.[AVAILABLE] ?? OPERATOR_VERSION
}

export function versionController({ runtime, stepMs }: ActorDeps): Controller {
  const { client, cache } = runtime
  const inNamespace = ({ metadata }: KubeObject): readonly string[] =>
    cache(versions)
      .list(metadata.namespace)
      .map((version) => `${version.metadata.namespace}/${version.metadata.name}`)
  return {
    name: 'openstack-version',
    watches: [versions, { ...deployments, map: inNamespace }],
    reconcile: async ({ namespace = '', name }, { clock }) => {
      const live = cache(versions).get(`${namespace}/${name}`)
      if (!live) return undefined
      const { conditions, inProgress, ...facts } = advanceVersion(live, {
        nodeSets: cache(nodeSets)
          .list(namespace)
          .map(({ metadata }) => metadata.name),
        deployments: cache(deployments).list(namespace),
      })
      const status = {
        ...facts,
        observedGeneration: live.metadata.generation,
        conditions: withTransitionTimes(live, conditions, clock.now()),
      }
      await writeStatus(client, live, status, ACTOR)
      return inProgress ? { requeueAfterMs: stepMs } : undefined
    },
  }
}

/** Returns the status after one more step. Pure. */
export function advanceVersion(version: KubeObject, hosts: DataPlaneState): VersionStatus {
  const { targetVersion: target = OPERATOR_VERSION } = version['spec'] as { readonly targetVersion?: string }
  const before = (version['status'] ?? {}) as Partial<VersionStatus>
  const { deployedVersion: deployed } = before
  const available = findAvailableVersion(version)
  const known = { ...before.containerImageVersionDefaults, [available]: {} }
  const facts = { availableVersion: available, containerImageVersionDefaults: known }
  const steps = [
    'MinorUpdateOVNControlplane',
    'MinorUpdateOVNDataplane',
    'MinorUpdateControlplane',
    'MinorUpdateDataplane',
  ]
  const initialized: Draft = { type: 'Initialized', ...good }
  if (!(target in known)) {
    const message = `Target version ${target} not found in defaults`
    const waiting = { status: 'False', reason: 'Requested', severity: 'Info', message } as const
    const conditions = [
      { type: 'Ready', ...waiting },
      { type: 'Initialized', ...waiting },
    ]
    return { ...facts, ...(deployed && { deployedVersion: deployed }), conditions, inProgress: false }
  }
  if (deployed === undefined || deployed === target) {
    const conditions = [{ type: 'Ready', ...good }, initialized, ...steps.map((type) => ({ type, ...good }))]
    return { ...facts, deployedVersion: target, conditions, inProgress: false }
  }
  // A new target starts index the first step, regardless of the conditions of an earlier update.
  const isNew =
    (version['status'] as { observedGeneration?: number } | undefined)?.observedGeneration !==
    version.metadata.generation
  const done = isNew ? 0 : steps.filter((type) => isTrue(before.conditions, type)).length
  const reached = done < steps.length && canAdvance(steps[done] ?? '', target, hosts) && !isNew ? done + 1 : done
  if (reached === steps.length) {
    const conditions = [{ type: 'Ready', ...good }, initialized, ...steps.map((type) => ({ type, ...good }))]
    return { ...facts, deployedVersion: target, conditions, inProgress: false }
  }
  const conditions = [
    { type: 'Ready', ...busy },
    initialized,
    ...steps.map((type, index) => ({ type, ...(index < reached ? good : busy) })),
  ]
  return {
    ...facts,
    deployedVersion: deployed,
    conditions,
    inProgress: canAdvance(steps[reached] ?? '', target, hosts),
  }
}

function isTrue(conditions: readonly Draft[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
}

/** Steps on hosts wait for a deployment of each node set. */
function canAdvance(step: string, target: string, { nodeSets, deployments }: DataPlaneState): boolean {
  const service = { MinorUpdateOVNDataplane: 'ovn', MinorUpdateDataplane: 'update' }[step]
  if (service === undefined) return true
  return nodeSets.every((name) =>
    deployments.some((deployment) => {
      const spec = deployment['spec'] as { nodeSets?: readonly string[]; servicesOverride?: readonly string[] }
      const status = deployment['status'] as { deployed?: boolean; deployedVersion?: string } | undefined
      const ran = status?.deployed === true && status.deployedVersion === target
      return ran && spec.nodeSets?.includes(name) && spec.servicesOverride?.includes(service)
    }),
  )
}
