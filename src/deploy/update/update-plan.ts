/**
 * Plans the update of one cloud, and judges its progress by the conditions of the OpenStackVersion. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getConditions, getField, getNumber, getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { asFields } from '../../render/merge.ts'
import { failed, progressing, type Readiness, ready } from '../../verify/readiness/verdict.ts'
import { noVersion, updateUnderWay, versionDiffersFromSite, versionNotAvailable } from '../findings/update.ts'

export interface UpdateRequest {
  readonly cloud: string
  readonly namespace: string
  /** Default: the version of the site file, or else the newest that the operator has. */
  readonly to?: string
  /** The version in the site file. */
  readonly written?: string
}

export interface UpdatePlan {
  readonly cloud: string
  readonly namespace: string
  readonly version: KubeObject | undefined
  readonly available: string | undefined
  readonly target: string | undefined
  readonly deployed: string | undefined
  readonly wanted: string | undefined
  /** Names of the NodeSets that are updated after the control plane. */
  readonly nodeSets: readonly string[]
  readonly findings: readonly Finding[]
}

export const updateKinds = [
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneDeployment' },
  { apiVersion: 'batch/v1', kind: 'Job' },
] as const

export function planUpdate({ cloud, namespace, to, written }: UpdateRequest, live: SnapshotIndex): UpdatePlan {
  const inNamespace = ({ metadata }: KubeObject): boolean => metadata.namespace === namespace
  const version = live.all('core.openstack.org/OpenStackVersion').find(inNamespace)
  const available = getString(version, 'status', 'availableVersion')
  const nodeSets = live
    .all('dataplane.openstack.org/OpenStackDataPlaneNodeSet')
    .filter(inNamespace)
    .map(({ metadata }) => metadata.name)
    .sort()
  const facts = {
    cloud,
    namespace,
    version,
    available,
    target: getString(version, 'spec', 'targetVersion'),
    deployed: getString(version, 'status', 'deployedVersion'),
    wanted: to ?? written ?? available,
    nodeSets,
  }
  if (!version) return { ...facts, findings: [finding(noVersion, { cloud, namespace })] }
  return { ...facts, findings: updateFindings(facts, written) }
}

/** When a condition of the version last changed: after an update, when it ended. */
export function lastTransition({ version }: UpdatePlan): string | undefined {
  const times = version ? getConditions(version).flatMap(({ lastTransitionTime }) => lastTransitionTime ?? []) : []
  return times.toSorted().at(-1)
}

/** The cloud runs the requested version already. */
export function isUpdated({ wanted, target, deployed }: UpdatePlan): boolean {
  return wanted !== undefined && wanted === target && wanted === deployed
}

function updateFindings(plan: Omit<UpdatePlan, 'findings'>, written: string | undefined): readonly Finding[] {
  const { cloud, version, wanted = '', target, deployed, available } = plan
  // The operator keeps the images of these versions.
  const withImages = Object.keys(asFields(getField(version, 'status', 'containerImageVersionDefaults')))
  const known = new Set([...withImages, ...(available ? [available] : []), ...(deployed ? [deployed] : [])])
  if (!known.has(wanted)) return [finding(versionNotAvailable, { cloud, wanted, known: [...known].sort() })]
  const isUpdating = deployed !== undefined && target !== undefined && target !== deployed
  if (isUpdating && wanted !== target) return [finding(updateUnderWay, { cloud, target, wanted })]
  if (written !== undefined && written !== wanted) return [finding(versionDiffersFromSite, { cloud, wanted, written })]
  return []
}

/** In upstream's order: OVN before the rest, the control plane before the hosts. */
const updateSteps = {
  'ovn-control-plane': 'MinorUpdateOVNControlplane',
  'ovn-data-plane': 'MinorUpdateOVNDataplane',
  'control-plane': 'MinorUpdateControlplane',
  'data-plane': 'MinorUpdateDataplane',
} as const

export type UpdateStep = keyof typeof updateSteps

export function stepReadiness(version: KubeObject | undefined, step: UpdateStep, wanted: string): Readiness {
  if (!version) return progressing('the OpenStackVersion')
  const unobserved = unobservedTarget(version, wanted)
  if (unobserved) return unobserved
  // The operator removes the conditions when the update is finished.
  if (getString(version, 'status', 'deployedVersion') === wanted) return ready
  const type = updateSteps[step]
  const condition = findCondition(version, type)
  if (condition?.status === 'True') return ready
  const name = formatObjectName(version)
  if (condition?.status === 'False' && condition.severity === 'Error')
    return failed(`${name}: ${condition.message ?? type}`, describeCommand(version))
  return progressing(`${name}: ${type}${condition?.message ? ` (${condition.message})` : ''}`)
}

export function deployedReadiness(version: KubeObject | undefined, wanted: string): Readiness {
  if (!version) return progressing('the OpenStackVersion')
  const unobserved = unobservedTarget(version, wanted)
  if (unobserved) return unobserved
  const deployed = getString(version, 'status', 'deployedVersion')
  return deployed === wanted
    ? ready
    : progressing(`${formatObjectName(version)} to go from ${deployed ?? 'nothing'} to ${wanted}`)
}

/** Conditions of the previous update remain, so they count only after the operator has observed the new target. */
function unobservedTarget(version: KubeObject, wanted: string): Readiness | undefined {
  if (getString(version, 'spec', 'targetVersion') !== wanted)
    return progressing(`${formatObjectName(version)} to ask for ${wanted}`)
  const observed = getNumber(version, 'status', 'observedGeneration') ?? 0
  return observed < (version.metadata.generation ?? 0)
    ? progressing(`the operator to see ${formatObjectName(version)}`)
    : undefined
}

function describeCommand({ metadata }: KubeObject): string {
  return `kubectl -n ${metadata.namespace} describe openstackversion ${metadata.name}`
}
