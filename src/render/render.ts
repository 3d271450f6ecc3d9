/**
 * Renders a plan: every object of a site except its Secrets. `lints.ts` checks them without rendering.
 *
 * Each document has its stage and cloud. The order of stages is in `deploy/stage-table.ts`; here it is the printed order.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { renderControlPlane, renderPodDefinitions } from './control-plane/control-plane.ts'
import { isKept } from './kept.ts'
import { renderAdvertisements, renderPeers, renderPools } from './metallb.ts'
import { renderAttachments } from './multus.ts'
import { renderDnsData, renderNetConfig } from './netconfig.ts'
import { indexSegments, renderBasePolicies, renderCloudPolicies, type SegmentIndex } from './nmstate.ts'
import { renderDataPlane } from './node-sets.ts'
import { renderNodeTuning } from './node-tuning.ts'
import {
  renderCloudNamespace,
  renderMetalLbOperand,
  renderNmstateOperand,
  renderOpenStackOperand,
  renderOperator,
} from './operators.ts'
import { fitToRelease } from './release-fields.ts'
import { indexSharing, type SubnetSharing } from './subnet-sharing.ts'
import { renderVipPolicy } from './vip-policy.ts'

/** Stages that have documents, in the order in which `render` prints them. */
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

/** Every document as the target release takes it. */
export function renderDocuments(plan: Plan): readonly RenderedDocument[] {
  const clouds = new Map(plan.clouds.map((cloud) => [cloud.name, cloud]))
  return templateDocuments(plan).map((document) => fitDocument(plan, document, clouds.get(document.cloud ?? '')))
}

/** Renders parts of what `renderDocuments` returns, for a caller that need not have all of it in memory. */
export interface PartRenderer {
  /** What the clouds share, and the node policies of all clouds. */
  readonly nodeDocuments: () => readonly RenderedDocument[]
  readonly cloudDocuments: (cloud: PlannedCloud) => readonly RenderedDocument[]
}

export function createPartRenderer(plan: Plan): PartRenderer {
  const segments = indexSegments(plan)
  const sharing = indexSharing(plan)
  return {
    nodeDocuments: () => [
      ...sharedDocuments(plan, segments).map((document) => fitDocument(plan, document, undefined)),
      ...plan.clouds.flatMap((cloud) =>
        withoutKept(cloud, policyDocuments(plan, cloud, segments)).map((document) =>
          fitDocument(plan, document, cloud),
        ),
      ),
    ],
    cloudDocuments: (cloud) =>
      withoutKept(cloud, cloudDocuments(plan, cloud, { segments, sharing })).map((document) =>
        fitDocument(plan, document, cloud),
      ),
  }
}

function fitDocument(plan: Plan, document: RenderedDocument, cloud: PlannedCloud | undefined): RenderedDocument {
  const { object } = fitToRelease(document.object, plan.slots.release, cloud)
  return object === document.object ? document : { ...document, object }
}

/** What the templates produce, whatever the release, without what stays with another tool. */
export function templateDocuments(plan: Plan): readonly RenderedDocument[] {
  const segments = indexSegments(plan)
  const sharing = indexSharing(plan)
  const documents = [...sharedDocuments(plan, segments)]
  for (const cloud of plan.clouds)
    documents.push(...withoutKept(cloud, cloudDocuments(plan, cloud, { segments, sharing })))
  return documents
}

function withoutKept(cloud: PlannedCloud, documents: readonly RenderedDocument[]): readonly RenderedDocument[] {
  return cloud.from.file.keep ? documents.filter(({ stage }) => !isKept(cloud, stage)) : documents
}

/** What the site file leaves to the tool that deployed a cloud, as it would be rendered. */
export function renderKeptDocuments(plan: Plan): readonly RenderedDocument[] {
  const clouds = plan.clouds.filter(({ from }) => from.file.keep)
  if (clouds.length === 0) return []
  const indexes = { segments: indexSegments(plan), sharing: indexSharing(plan) }
  return clouds.flatMap((cloud) => cloudDocuments(plan, cloud, indexes).filter(({ stage }) => isKept(cloud, stage)))
}

function sharedDocuments(plan: Plan, segments: SegmentIndex): readonly RenderedDocument[] {
  return [
    ...forStage('nmstate', [...renderOperator(plan, 'nmstate'), ...renderNmstateOperand(plan)]),
    ...forStage('metallb', [...renderOperator(plan, 'metallb'), ...renderMetalLbOperand(plan), ...renderPeers(plan)]),
    ...forStage('cert-manager', renderOperator(plan, 'certManager')),
    ...forStage('openstack', renderOperator(plan, 'openstack')),
    ...forStage('openstack-init', renderOpenStackOperand(plan)),
    ...forStage('nncp', [...renderNodeTuning(plan), ...renderBasePolicies(plan, segments)]),
  ]
}

interface Indexes {
  readonly segments: SegmentIndex
  readonly sharing: SubnetSharing
}

function cloudDocuments(plan: Plan, cloud: PlannedCloud, { segments, sharing }: Indexes): readonly RenderedDocument[] {
  const { name } = cloud
  return [
    ...policyDocuments(plan, cloud, segments),
    ...forStage('namespace', renderCloudNamespace(plan, cloud), name),
    ...forStage('netattach', [...renderAttachments(plan, cloud), ...renderPodDefinitions(plan, cloud)], name),
    ...forStage(
      'metallb-config',
      [...renderPools(plan, cloud), ...renderAdvertisements(plan, cloud), ...renderVipPolicy(plan, cloud)],
      name,
    ),
    ...forStage('netconfig', [...renderNetConfig(plan, cloud, sharing), ...renderDnsData(plan, cloud)], name),
    ...forStage('control-plane', renderControlPlane(plan, cloud), name),
    ...forStage('data-plane', renderDataPlane(plan, cloud), name),
  ]
}

function policyDocuments(plan: Plan, cloud: PlannedCloud, segments: SegmentIndex): readonly RenderedDocument[] {
  return forStage('nncp', renderCloudPolicies(plan, cloud, segments), cloud.name)
}

function forStage(stage: DocumentStage, objects: readonly KubeObject[], cloud?: string): readonly RenderedDocument[] {
  return objects.map((object) => (cloud === undefined ? { stage, object } : { stage, cloud, object }))
}
