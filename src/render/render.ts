/**
 * Everything of a site but its Secrets: what `render` prints and `up` applies.
 *
 * Each document says which stage it belongs to and which cloud, so that neither has to guess. When a stage comes is
 * said by `deploy/stage-table.ts`; the order here is that of the printed stream.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { renderControlPlane } from './control-plane/control-plane.ts'
import { renderDnsData } from './dns-data.ts'
import { renderAdvertisements, renderPeers, renderPools } from './metallb.ts'
import { renderAttachments } from './multus.ts'
import { renderCloudNamespace } from './namespaces.ts'
import { renderNetConfig } from './netconfig.ts'
import { indexSegments, renderBasePolicies, renderCloudPolicies, type SegmentIndex } from './nmstate.ts'
import { renderDataPlane } from './node-sets.ts'
import { renderMetalLbOperand, renderNmstateOperand, renderOpenStackOperand, renderOperator } from './operators.ts'
import { renderVipPolicy } from './vip-policy.ts'

/** Stages of a deployment that have documents, in the order in which `render` prints them. */
export const documentStages = [
  'nmstate',
  'metallb',
  'cert-manager',
  'openstack',
  'openstack-init',
  'nncp',
  'namespace',
  'netattach',
  'metallb-config',
  'netconfig',
  'control-plane',
  'data-plane',
] as const

export type DocumentStage = (typeof documentStages)[number]

export interface RenderedDocument {
  readonly stage: DocumentStage
  /** Absent for what the clouds share. */
  readonly cloud?: string
  readonly object: KubeObject
}

export function renderDocuments(plan: Plan): readonly RenderedDocument[] {
  const index = indexSegments(plan)
  const documents = [...sharedDocuments(plan, index)]
  for (const cloud of plan.clouds) documents.push(...cloudDocuments(plan, cloud, index))
  return documents
}

function sharedDocuments(plan: Plan, index: SegmentIndex): readonly RenderedDocument[] {
  return [
    ...forStage('nmstate', [...renderOperator(plan, 'nmstate'), ...renderNmstateOperand(plan)]),
    ...forStage('metallb', [...renderOperator(plan, 'metallb'), ...renderMetalLbOperand(plan), ...renderPeers(plan)]),
    ...forStage('cert-manager', renderOperator(plan, 'certManager')),
    ...forStage('openstack', renderOperator(plan, 'openstack')),
    ...forStage('openstack-init', renderOpenStackOperand(plan)),
    ...forStage('nncp', renderBasePolicies(plan, index)),
  ]
}

/** One cloud's documents; the index is found once for all clouds. */
function cloudDocuments(plan: Plan, cloud: PlannedCloud, index = indexSegments(plan)): readonly RenderedDocument[] {
  const { name } = cloud
  return [
    ...forStage('nncp', renderCloudPolicies(plan, cloud, index), name),
    ...forStage('namespace', renderCloudNamespace(plan, cloud), name),
    ...forStage('netattach', renderAttachments(plan, cloud), name),
    ...forStage(
      'metallb-config',
      [...renderPools(plan, cloud), ...renderAdvertisements(plan, cloud), ...renderVipPolicy(plan, cloud)],
      name,
    ),
    ...forStage('netconfig', [...renderNetConfig(plan, cloud), ...renderDnsData(plan, cloud)], name),
    ...forStage('control-plane', renderControlPlane(plan, cloud), name),
    ...forStage('data-plane', renderDataPlane(plan, cloud), name),
  ]
}

function forStage(stage: DocumentStage, objects: readonly KubeObject[], cloud?: string): readonly RenderedDocument[] {
  return objects.map((object) => (cloud === undefined ? { stage, object } : { stage, cloud, object }))
}
