/** Builds the stages that take one cloud down: the reverse of its deployment, each step after its dependents are gone. */
import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { finding } from '../../errors/finding.ts'
import { type Stage, type StageContext, type StageDependency, stageId } from '../../run/stage.ts'
import { volumesRemain } from '../findings/down.ts'
import { deleteInventory, type Inventory, type InventoryEntry, writeInventory } from '../inventory.ts'
import { removeNodePolicies } from '../node-policies.ts'
import { findLive } from '../object-changes.ts'
import { NODE_NETWORKING } from '../stage-table.ts'
import { type DeleteDeps, deleteAll, releaseAdopted, verifyGone, waitUntilNone } from './delete.ts'

export interface CloudDownDeps extends DeleteDeps {
  /** Deletes volumes too. */
  readonly deleteData: boolean
}

const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const
const IPSET = { apiVersion: 'network.openstack.org/v1beta1', kind: 'IPSet' } as const
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const

const isLoadBalancer = (service: KubeObject): boolean => getString(service, 'spec', 'type') === 'LoadBalancer'

type DownStage =
  | 'data-plane'
  | 'control-plane'
  | 'netconfig'
  | 'metallb-config'
  | 'netattach'
  | 'nncp'
  | 'namespace'
  | 'proof'

const stageByGroup: Readonly<Record<string, DownStage>> = {
  'dataplane.openstack.org': 'data-plane',
  'core.openstack.org': 'control-plane',
  'network.openstack.org': 'netconfig',
  'metallb.io': 'metallb-config',
  'admissionregistration.k8s.io': 'metallb-config',
  'k8s.cni.cncf.io': 'netattach',
  'nmstate.io': 'nncp',
}

function downStageFor(ref: InventoryEntry): DownStage {
  return stageByGroup[formatGroupKind(ref).split('/')[0] ?? ''] ?? 'namespace'
}

export function cloudDownStages(deps: CloudDownDeps, inventory: Inventory): readonly Stage[] {
  const { cloud = '', namespace } = inventory
  const refs = (stage: DownStage): readonly InventoryEntry[] =>
    inventory.objects.filter((ref) => downStageFor(ref) === stage)
  const stage = (
    name: DownStage,
    after: readonly StageDependency[],
    work: (context: StageContext) => Promise<void>,
    locks: readonly string[] = [],
  ): Stage => ({ id: stageId(name, cloud), name, cloud, after, locks, work })
  const after = (name: DownStage, why: string): StageDependency => ({ id: stageId(name, cloud), why })

  return [
    stage('data-plane', [], (context) => deleteInOrder(refs('data-plane'), deps, context, namespace)),
    stage('control-plane', [after('data-plane', 'hosts still talk to it')], (context) =>
      deleteAll(refs('control-plane'), deps, context, namespace),
    ),
    stage('netconfig', [after('control-plane', 'its DNS serves these networks')], async (context) => {
      await waitUntilNone(IPSET, namespace ?? '', deps, context)
      await deleteAll(refs('netconfig'), deps, context, namespace)
    }),
    stage('metallb-config', [after('control-plane', 'its Services hold the addresses')], async (context) => {
      await waitUntilNone(SERVICE, namespace ?? '', deps, context, isLoadBalancer)
      await deleteAll(refs('metallb-config'), deps, context)
    }),
    stage('netattach', [after('control-plane', 'its pods are attached')], (context) =>
      deleteAll(refs('netattach'), deps, context, namespace),
    ),
    stage(
      'nncp',
      [after('netattach', 'pods use the interfaces'), after('metallb-config', 'addresses are announced there')],
      (context) => removeNodePolicies(refs('nncp'), deps.client, context, deps.view),
      [NODE_NETWORKING],
    ),
    stage('namespace', [after('nncp', 'it goes last'), after('netconfig', 'it goes last')], (context) =>
      removeNamespace(inventory, refs('namespace'), deps, context),
    ),
    stage('proof', [after('namespace', 'everything must be gone')], async (context) => {
      await releaseAdopted(inventory.objects, deps, context)
      const kinds = await verifyGone(inventory, deps, context)
      await finishInventory(inventory, refs('namespace'), deps)
      context.emit({ kind: 'progress', message: `nothing is left among ${kinds} kinds` })
    }),
  ]
}

/** What stays together with volumes stays listed, so that `--delete-data` can delete it later. */
async function finishInventory(
  inventory: Inventory,
  kept: readonly InventoryEntry[],
  { client }: CloudDownDeps,
): Promise<void> {
  const { namespace = '', cloud } = inventory
  const live = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  const isOurs = kept.some(({ kind, name, adopted }) => kind === 'Namespace' && name === namespace && !adopted)
  if (live && isOurs) await writeInventory(client, { ...inventory, objects: kept })
  else await deleteInventory(client, cloud)
}

/** Deployments before NodeSets, NodeSets before what they refer to. */
async function deleteInOrder(
  refs: readonly InventoryEntry[],
  deps: CloudDownDeps,
  context: StageContext,
  namespace: string | undefined,
): Promise<void> {
  const order = ['OpenStackDataPlaneDeployment', 'OpenStackDataPlaneNodeSet']
  const rank = ({ kind }: InventoryEntry): number => (order.includes(kind) ? order.indexOf(kind) : order.length)
  for (const current of [...order.keys(), order.length]) {
    const sameRank = refs.filter((ref) => rank(ref) === current)
    await deleteAll(sameRank, deps, context, namespace)
  }
}

/** The namespace and its passwords stay together with volumes, unless the user agreed to delete the data. */
async function removeNamespace(
  { cloud = '', namespace = '' }: Inventory,
  refs: readonly InventoryEntry[],
  deps: CloudDownDeps,
  context: StageContext,
): Promise<void> {
  const { client, view } = deps
  const watched = refs.filter(({ kind }) => kind !== 'Secret')
  await view.watch([CLAIM, ...watched], context)
  const claims = view.index(namespace).all('PersistentVolumeClaim')
  if (claims.length > 0 && !deps.deleteData) {
    const names = claims.map(({ metadata }) => metadata.name)
    context.emit({ kind: 'finding', finding: finding(volumesRemain, { cloud, namespace, claims: names }) })
    return
  }
  // Secrets are read by name, so that those of the whole cluster need not be listed.
  for (const ref of refs.filter(({ kind }) => kind === 'Secret')) {
    context.stop.throwIfAborted()
    // A Secret that existed before was never overwritten, so it is not ours to delete.
    const live = await client.get(ref)
    if (!live || !isManagedByStackloom(live)) continue
    const { uid } = live.metadata
    const options = { ...(uid !== undefined && { preconditions: { uid } }) }
    if (await client.delete(ref, options)) context.emit({ kind: 'applied', change: 'deleted', object: ref })
  }
  const isNamespace = ({ kind }: InventoryEntry): boolean => kind === 'Namespace'
  const others = watched.filter((ref) => !isNamespace(ref))
  await deleteAll(others, deps, context, namespace)
  const namespaces = watched.filter((ref) => isNamespace(ref) && findLive(ref, view.index()))
  await deleteAll(namespaces, deps, context)
}
