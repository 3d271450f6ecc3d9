/** What an update of one cloud would do: from which version to which, in which steps. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { getField, getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { asFields } from '../../render/merge.ts'
import { noVersion, updateUnderWay, versionDiffersFromSite, versionNotAvailable } from '../findings/update.ts'

export interface UpdateRequest {
  readonly cloud: string
  readonly namespace: string
  /** A version; without one the site file's, or else the newest that the operator has. */
  readonly to?: string
  /** What the site file says. */
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
  /** Names of the sets of hosts that follow the control plane. */
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

export function planUpdate(wish: UpdateRequest, live: SnapshotIndex): UpdatePlan {
  const { cloud, namespace, written } = wish
  const version = live.all('core.openstack.org/OpenStackVersion').find((one) => one.metadata.namespace === namespace)
  const available = getString(version, 'status', 'availableVersion')
  const target = getString(version, 'spec', 'targetVersion')
  const deployed = getString(version, 'status', 'deployedVersion')
  const wanted = wish.to ?? written ?? available
  const nodeSets = live
    .all('dataplane.openstack.org/OpenStackDataPlaneNodeSet')
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name)
    .sort()
  const facts = { cloud, namespace, version, available, target, deployed, wanted, nodeSets }
  if (!version) return { ...facts, findings: [finding(noVersion, { cloud, namespace })] }
  return { ...facts, findings: findingsOf(facts, written) }
}

/** Nothing to wait for: the cloud is where it is wanted. */
export function isUpdated({ wanted, target, deployed }: UpdatePlan): boolean {
  return wanted !== undefined && wanted === target && wanted === deployed
}

function findingsOf(plan: Omit<UpdatePlan, 'findings'>, written: string | undefined): readonly Finding[] {
  const { cloud, version, wanted = '', target, deployed, available } = plan
  const known = new Set([...knownVersions(version), ...(available ? [available] : []), ...(deployed ? [deployed] : [])])
  if (!known.has(wanted)) return [finding(versionNotAvailable, { cloud, wanted, known: [...known].sort() })]
  const between = deployed !== undefined && target !== undefined && target !== deployed
  if (between && wanted !== target) return [finding(updateUnderWay, { cloud, target, wanted })]
  if (written !== undefined && written !== wanted) return [finding(versionDiffersFromSite, { cloud, wanted, written })]
  return []
}

/** Every version of which the operator has kept the images. */
function knownVersions(version: KubeObject | undefined): readonly string[] {
  return Object.keys(asFields(getField(version, 'status', 'containerImageVersionDefaults')))
}
