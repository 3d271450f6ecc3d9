/** The site's stages: the table of stages, each with the work that does it. What `up` gives the engine. */
import type { KubeObject } from '../api/object.ts'
import type { RenderedDocument } from '../render/render.ts'
import { type Stage, stageId } from '../run/stage.ts'
import {
  certManagerParts,
  metallbParts,
  nmstateParts,
  openstackInitParts,
} from '../verify/readiness/installed-operators.ts'
import { crdFindings, readControlPlaneCrd } from './control-plane-crd.ts'
import { type CloudStage, type SharedStage, type StageEntry, stageTable } from './stage-table.ts'
import { applyAndWait } from './stages/apply-and-wait.ts'
import { type DiscoverHosts, dataPlaneWork } from './stages/data-plane-stage.ts'
import { nodeNetworkingWork } from './stages/node-networking-stage.ts'
import { type OperatorWork, operatorWork } from './stages/operator-stage.ts'
import { secretsWork } from './works/cloud-secrets.ts'
import { controlPlaneWork } from './works/control-plane.ts'
import { preflightWork } from './works/preflight.ts'
import { verifyWork } from './works/verify.ts'
import type { DeployCloud, World } from './world.ts'

export interface SiteStagesInput {
  readonly world: World
  readonly discoverHosts: DiscoverHosts
}

type Work = Pick<Stage, 'check' | 'work'>

export function buildSiteStages({ world, discoverHosts }: SiteStagesInput): readonly Stage[] {
  const { site } = world
  const filed = groupByStage(site.documents)
  const shared = stageTable
    .filter(({ scope }) => scope === 'shared')
    .map((entry) => buildStage(entry, undefined, sharedWork(entry.name as SharedStage, world, filed)))
  const clouds = site.clouds.flatMap((cloud) =>
    stageTable
      .filter(({ scope }) => scope === 'cloud')
      .map((entry) => {
        const objects = filed(entry.name, cloud.name)
        const work = cloudWork(entry.name as CloudStage, cloud, objects, filed, { world, discoverHosts })
        return buildStage(entry, cloud.name, work)
      }),
  )
  return [...shared, ...clouds]
}

/** The graph alone, for those who only choose from it. */
export function stageGraph(clouds: readonly string[]): readonly Stage[] {
  const nothing: Work = { work: async () => undefined }
  return [undefined, ...clouds].flatMap((cloud) =>
    stageTable
      .filter(({ scope }) => (scope === 'shared') === (cloud === undefined))
      .map((entry) => buildStage(entry, cloud, nothing)),
  )
}

function buildStage({ name, after, locks }: StageEntry, cloud: string | undefined, work: Work): Stage {
  return {
    id: stageId(name, cloud),
    name,
    ...(cloud !== undefined && { cloud }),
    after: after.map((one) => ({ id: stageIdFor(one.name, cloud), why: one.why })),
    locks,
    ...work,
  }
}

function stageIdFor(name: string, cloud: string | undefined): string {
  const entry = stageTable.find((stageEntry) => stageEntry.name === name)
  return stageId(name, entry?.scope === 'cloud' ? cloud : undefined)
}

/** The stage that applies a document: node policies of a cloud belong to the one stage of all. */
export function documentStageId({ stage, cloud }: RenderedDocument): string {
  return stageIdFor(stage, cloud)
}

type StageObjects = (stage: string, cloud?: string) => readonly KubeObject[]

/** Found once: looking through all documents for each cloud would cost clouds times clouds. */
function groupByStage(documents: readonly RenderedDocument[]): StageObjects {
  const filed = new Map<string, KubeObject[]>()
  for (const document of documents) {
    const id = documentStageId(document)
    const there = filed.get(id)
    if (there) there.push(document.object)
    else filed.set(id, [document.object])
  }
  return (stage, cloud) => filed.get(stageId(stage, cloud)) ?? []
}

function sharedWork(name: SharedStage, world: World, filed: StageObjects): Work {
  if (name === 'preflight') return preflightWork(world)
  if (name === 'nncp') return nodeNetworkingWork(world, filed(name))
  return operatorWork(world, { ...operators[name], objects: filed(name) })
}

const operators: Readonly<Record<Exclude<SharedStage, 'preflight' | 'nncp'>, Omit<OperatorWork, 'objects'>>> = {
  nmstate: {
    title: 'nmstate',
    parts: nmstateParts,
    brings: [
      { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
      { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' },
    ],
    singletons: ['nmstate.io/NMState'],
  },
  metallb: {
    title: 'MetalLB',
    parts: metallbParts,
    brings: [
      { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
      { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' },
    ],
    singletons: ['metallb.io/MetalLB'],
  },
  'cert-manager': {
    title: 'cert-manager',
    parts: certManagerParts,
    brings: [
      { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' },
      { apiVersion: 'cert-manager.io/v1', kind: 'Issuer' },
    ],
    singletons: [],
  },
  openstack: {
    title: 'the OpenStack operator',
    parts: [],
    brings: [{ apiVersion: 'operator.openstack.org/v1beta1', kind: 'OpenStack' }],
    singletons: [],
  },
  'openstack-init': {
    title: 'the set of OpenStack operators',
    parts: openstackInitParts,
    brings: [
      { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' },
      { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' },
    ],
    singletons: ['operator.openstack.org/OpenStack'],
    // Before this stage there may have been no CRD to compare with.
    tell: async ({ client, site }) => crdFindings(site.slots, await readControlPlaneCrd(client)),
  },
}

function cloudWork(
  name: CloudStage,
  cloud: DeployCloud,
  objects: readonly KubeObject[],
  filed: StageObjects,
  { world, discoverHosts }: SiteStagesInput,
): Work {
  switch (name) {
    case 'secrets':
      return secretsWork(world, cloud)
    case 'control-plane':
      return controlPlaneWork(world, cloud, objects)
    case 'data-plane':
      return dataPlaneWork(world, cloud, objects, discoverHosts)
    case 'verify':
      return verifyWork(world, cloud)
    case 'namespace':
    case 'netattach':
    case 'metallb-config':
    case 'netconfig':
      return applyAndWait(world, { objects, empty: 'the cloud has none' })
  }
}
