/** Builds the stages of a site for the engine: each entry of the stage table with the work behind it. */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { Failure } from '../errors/failure.ts'
import { hasErrors } from '../errors/finding.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { providedSecrets } from '../render/needed-secrets.ts'
import { type RenderedDocument, renderKeptDocuments } from '../render/render.ts'
import { type Selection, selectStages } from '../run/selection.ts'
import { type Stage, stageId } from '../run/stage.ts'
import { stageChecks } from '../verify/checks.ts'
import {
  certManagerParts,
  metallbParts,
  nmstateParts,
  openstackInitParts,
} from '../verify/readiness/installed-operators.ts'
import { liveReadiness } from '../verify/readiness/readiness.ts'
import { worst } from '../verify/readiness/verdict.ts'
import { requiredKinds, verify } from '../verify/verify.ts'
import { readReleaseCrds, refusedFields } from './cluster-release.ts'
import { crdFindings, type PreflightDeps, preflightStage, readControlPlaneCrd } from './preflight.ts'
import { secretsStage } from './secrets.ts'
import { type CloudStage, type SharedStage, type StageEntry, stageTable } from './stage-table.ts'
import { type ApplyDeps, applyAndWait, type StageWork } from './stages/apply-and-wait.ts'
import { type DataPlaneDeps, dataPlaneStage } from './stages/data-plane-stage.ts'
import { nodeNetworkingStage } from './stages/node-networking-stage.ts'
import { type OperatorWork, operatorStage } from './stages/operator-stage.ts'

export type SiteStageDeps = PreflightDeps & DataPlaneDeps

type Work = Pick<Stage, 'check' | 'work'>

export function buildSiteStages(deps: SiteStageDeps): readonly Stage[] {
  const objectsOf = groupByStage(deps.documents)
  const entries = (scope: StageEntry['scope']): readonly StageEntry[] =>
    stageTable.filter((entry) => entry.scope === scope)
  const shared = entries('shared').map((entry) =>
    buildStage(entry, undefined, sharedWork(entry.name as SharedStage, deps, objectsOf(entry.name))),
  )
  const clouds = deps.plan.clouds.flatMap((cloud) =>
    entries('cloud').map((entry) => {
      const objects = objectsOf(entry.name, cloud.name)
      return buildStage(entry, cloud.name, cloudWork(entry.name as CloudStage, deps, cloud, objects))
    }),
  )
  return [...shared, ...clouds]
}

/** Selects the documents that the chosen stages apply; throws what is wrong with the choice. */
export function selectDocuments(
  { clouds }: Pick<Plan, 'clouds'>,
  documents: readonly RenderedDocument[],
  selection: Selection,
): readonly RenderedDocument[] {
  const { stages, findings } = selectStages(stageGraph(clouds.map(({ name }) => name)), selection)
  if (findings.length > 0) throw new Failure(findings)
  const ids = new Set(stages.map(({ id }) => id))
  return limitToClouds(documents, selection.clouds).filter(({ stage, cloud }) => ids.has(stageIdFor(stage, cloud)))
}

/** Keeps the documents of these clouds and the shared ones: node policies of other clouds are not touched. */
export function limitToClouds(
  documents: readonly RenderedDocument[],
  clouds: readonly string[] = [],
): readonly RenderedDocument[] {
  if (clouds.length === 0) return documents
  return documents.filter(({ cloud }) => cloud === undefined || clouds.includes(cloud))
}

/** The graph without work, to select from. */
function stageGraph(clouds: readonly string[]): readonly Stage[] {
  const noWork: Work = { work: async () => undefined }
  return [undefined, ...clouds].flatMap((cloud) =>
    stageTable
      .filter(({ scope }) => (scope === 'shared') === (cloud === undefined))
      .map((entry) => buildStage(entry, cloud, noWork)),
  )
}

function buildStage({ name, after, locks }: StageEntry, cloud: string | undefined, work: Work): Stage {
  return {
    id: stageId(name, cloud),
    name,
    ...(cloud !== undefined && { cloud }),
    after: after.map((dependency) => ({ id: stageIdFor(dependency.name, cloud), why: dependency.why })),
    locks,
    ...work,
  }
}

/** Node policies of a cloud belong to the one shared stage for node networking. */
function stageIdFor(name: string, cloud: string | undefined): string {
  const entry = stageTable.find((stageEntry) => stageEntry.name === name)
  return stageId(name, entry?.scope === 'cloud' ? cloud : undefined)
}

/** Groups once: a search for each cloud is quadratic in the number of clouds. */
function groupByStage(
  documents: readonly RenderedDocument[],
): (stage: string, cloud?: string) => readonly KubeObject[] {
  const groups = new Map<string, KubeObject[]>()
  for (const { stage, cloud, object } of documents) {
    const id = stageIdFor(stage, cloud)
    const group = groups.get(id)
    if (group) group.push(object)
    else groups.set(id, [object])
  }
  return (stage, cloud) => groups.get(stageId(stage, cloud)) ?? []
}

function sharedWork(name: SharedStage, deps: SiteStageDeps, objects: readonly KubeObject[]): Work {
  if (name === 'preflight') return preflightStage(deps)
  if (name === 'nncp') return nodeNetworkingStage(deps, objects)
  const operator = { ...operators[name], objects }
  if (name !== 'openstack-init') return operatorStage(deps, operator)
  // Before this stage there may have been no CRD to compare with.
  const inspect = async () => [
    ...crdFindings(deps.plan.slots, await readControlPlaneCrd(deps.client)),
    ...refusedFields(deps.documents, deps.plan.slots.release, await readReleaseCrds(deps.client)),
  ]
  return operatorStage(deps, { ...operator, inspect })
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
  },
}

function cloudWork(name: CloudStage, deps: SiteStageDeps, cloud: PlannedCloud, objects: readonly KubeObject[]): Work {
  switch (name) {
    case 'secrets':
      return secretsStage({ ...deps, site: deps.plan.site }, providedSecrets(deps.plan, cloud))
    case 'control-plane':
      return controlPlaneStage(deps, cloud.namespace, objects)
    case 'data-plane':
      return dataPlaneStage(deps, cloud.namespace, objects)
    case 'verify':
      return verifyStage(deps, cloud.name)
    case 'namespace':
    case 'netattach':
    case 'metallb-config':
    case 'netconfig':
      return applyAndWait(deps, { objects, empty: 'the cloud has none' })
  }
}

const controlPlaneKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'Event' },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
]

/** Waits until the operator reports ready and every Service has its planned address. */
function controlPlaneStage(deps: ApplyDeps, namespace: string, objects: readonly KubeObject[]): StageWork {
  return applyAndWait(deps, {
    objects,
    related: controlPlaneKinds,
    namespace,
    also: (context) => worst(context.around.all('Service').map((service) => liveReadiness(service, context))),
  })
}

/** Compares the finished cloud with its plan by the checks of `verify`. Writes nothing and is never skipped. */
function verifyStage({ view, plan, documents }: PreflightDeps, cloud: string): Work {
  return {
    work: async (context) => {
      await view.watch(requiredKinds(stageChecks), context)
      const live = view.index()
      const now = context.clock.now()
      const kept = renderKeptDocuments(plan)
      const results = verify(stageChecks, { plan, documents, kept, live, unread: [], now, clouds: [cloud] })
      const findings = results.flatMap((result) => result.findings)
      if (hasErrors(findings)) throw new Failure(findings, 1)
      context.emit({ kind: 'progress', message: `as planned: ${results.map(({ seen }) => seen).join(', ')}` })
    },
  }
}
