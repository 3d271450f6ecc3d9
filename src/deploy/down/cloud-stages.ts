/**
 * Taking one cloud down: the reverse of its deployment, each step only after what it carries is gone.
 */
import { formatGroupKind } from '../../api/snapshot.ts'
import { finding } from '../../errors/finding.ts'
import { MANAGED_BY_LABEL } from '../../render/labels.ts'
import { type Stage, type StageContext, type StageDependency, stageId } from '../../run/stage.ts'
import { progressing, ready } from '../../verify/readiness/verdict.ts'
import { volumesRemain } from '../findings/down.ts'
import { deleteInventory, type Inventory, type InventoryEntry, writeInventory } from '../inventory.ts'
import { removeNodePolicies } from '../node-policies.ts'
import { NODE_NETWORKING } from '../stage-table.ts'
import { waitUntilReady } from '../wait.ts'
import { deleteAll, findLive } from './delete.ts'
import { releaseAdopted } from './let-go.ts'
import { verifyGone } from './proof.ts'
import type { DownDeps } from './world.ts'

const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const
const IPSET = { apiVersion: 'network.openstack.org/v1beta1', kind: 'IPSet' } as const
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const

const downCloudStages = [
  'data-plane',
  'control-plane',
  'netconfig',
  'metallb-config',
  'netattach',
  'nncp',
  'namespace',
  'proof',
] as const
type DownStage = (typeof downCloudStages)[number]

/** Which step removes an object of a cloud. */
function downStageOf(ref: InventoryEntry): DownStage {
  const groupKind = formatGroupKind(ref)
  if (groupKind.startsWith('dataplane.openstack.org/')) return 'data-plane'
  if (groupKind.startsWith('core.openstack.org/')) return 'control-plane'
  if (groupKind.startsWith('network.openstack.org/')) return 'netconfig'
  if (groupKind.startsWith('metallb.io/') || groupKind.startsWith('admissionregistration.k8s.io/'))
    return 'metallb-config'
  if (groupKind.startsWith('k8s.cni.cncf.io/')) return 'netattach'
  return groupKind.startsWith('nmstate.io/') ? 'nncp' : 'namespace'
}

export function cloudDownStages(world: DownDeps, inventory: Inventory): readonly Stage[] {
  const { cloud = '' } = inventory
  const refsOf = (stage: DownStage): readonly InventoryEntry[] =>
    inventory.objects.filter((ref) => downStageOf(ref) === stage)
  const stage = (
    name: DownStage,
    after: readonly StageDependency[],
    work: (context: StageContext) => Promise<void>,
    locks: readonly string[] = [],
  ): Stage => ({ id: stageId(name, cloud), name, cloud, after, locks, work })
  const after = (name: DownStage, why: string): StageDependency => ({ id: stageId(name, cloud), why })
  const { namespace } = inventory

  return [
    stage('data-plane', [], (context) => deleteInOrder(refsOf('data-plane'), world, context, namespace)),
    stage('control-plane', [after('data-plane', 'hosts still talk to it')], (context) =>
      deleteAll(refsOf('control-plane'), world, context, namespace),
    ),
    stage('netconfig', [after('control-plane', 'its DNS serves these networks')], async (context) => {
      await waitUntilNone(IPSET, 'IPSet', inventory, world, context)
      await deleteAll(refsOf('netconfig'), world, context, namespace)
    }),
    stage('metallb-config', [after('control-plane', 'its Services hold the addresses')], async (context) => {
      await waitUntilNone(SERVICE, 'LoadBalancer Service', inventory, world, context)
      await deleteAll(refsOf('metallb-config'), world, context)
    }),
    stage('netattach', [after('control-plane', 'its pods are attached')], (context) =>
      deleteAll(refsOf('netattach'), world, context, namespace),
    ),
    stage(
      'nncp',
      [after('netattach', 'pods stand on the interfaces'), after('metallb-config', 'addresses are announced there')],
      (context) => removeNodePolicies(refsOf('nncp'), world.client, context, world.lookout),
      [NODE_NETWORKING],
    ),
    stage('namespace', [after('nncp', 'it goes last'), after('netconfig', 'it goes last')], (context) =>
      removeNamespace(inventory, refsOf('namespace'), world, context),
    ),
    stage('proof', [after('namespace', 'everything must be gone')], async (context) => {
      await releaseAdopted(inventory.objects, world, context)
      const seen = await verifyGone(inventory, world, context)
      await finishInventory(inventory, refsOf('namespace'), world)
      context.emit({ kind: 'progress', message: `nothing is left among ${seen} kinds` })
    }),
  ]
}

/** What stays with a cloud's data stays listed: `--delete-data` can still take it away later. */
async function finishInventory(
  inventory: Inventory,
  kept: readonly InventoryEntry[],
  { client }: DownDeps,
): Promise<void> {
  const { namespace = '', cloud } = inventory
  const there = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  const isListed = kept.some(({ kind, name, adopted }) => kind === 'Namespace' && name === namespace && !adopted)
  if (there && isListed) await writeInventory(client, { ...inventory, objects: kept })
  else await deleteInventory(client, cloud)
}

/** Runs before node sets, node sets before what they refer to. */
async function deleteInOrder(
  refs: readonly InventoryEntry[],
  world: DownDeps,
  context: StageContext,
  namespace: string | undefined,
): Promise<void> {
  const kinds = ['OpenStackDataPlaneDeployment', 'OpenStackDataPlaneNodeSet']
  for (const kind of kinds)
    await deleteAll(
      refs.filter((ref) => ref.kind === kind),
      world,
      context,
      namespace,
    )
  await deleteAll(
    refs.filter((ref) => !kinds.includes(ref.kind)),
    world,
    context,
    namespace,
  )
}

/** Waits until the cloud's namespace has no object of a kind that stands on what goes next. */
async function waitUntilNone(
  kind: { readonly apiVersion: string; readonly kind: string },
  what: string,
  { namespace = '' }: Inventory,
  { lookout }: DownDeps,
  context: StageContext,
): Promise<void> {
  await lookout.watch([kind], context)
  const look = () => {
    const there = lookout
      .index(namespace)
      .all(formatGroupKind(kind))
      .filter(
        (one) => kind.kind !== 'Service' || (one['spec'] as { type?: string } | undefined)?.type === 'LoadBalancer',
      )
    const [first] = there
    return first
      ? progressing(`${there.length} ${what}s of ${namespace} to be gone (${first.metadata.name} first)`)
      : ready
  }
  await waitUntilReady(look, lookout, context, { namespace })
}

/** Volumes are somebody's data: the namespace and its passwords stay with them, unless the data may go, too. */
async function removeNamespace(
  { cloud = '', namespace = '' }: Inventory,
  refs: readonly InventoryEntry[],
  world: DownDeps,
  context: StageContext,
): Promise<void> {
  const watched = refs.filter(({ kind }) => kind !== 'Secret')
  await world.lookout.watch([CLAIM, ...watched], context)
  const claims = world.lookout.index(namespace).all('PersistentVolumeClaim')
  if (claims.length > 0 && !world.deleteData) {
    const names = claims.map(({ metadata }) => metadata.name)
    context.emit({ kind: 'finding', finding: finding(volumesRemain, { cloud, namespace, claims: names }) })
    return
  }
  // Secrets are looked at by name: nobody needs to read those of a whole cluster for that.
  for (const ref of refs.filter(({ kind }) => kind === 'Secret')) {
    context.stop.throwIfAborted()
    // One that was there before us was never overwritten, so it is not ours to delete.
    const live = await world.client.get(ref)
    if (live?.metadata.labels?.[MANAGED_BY_LABEL] !== 'stackloom') continue
    if (await world.client.delete(ref)) context.emit({ kind: 'applied', change: 'deleted', object: ref })
  }
  const others = watched.filter(({ kind }) => kind !== 'Namespace')
  await deleteAll(others, world, context, namespace)
  await deleteAll(
    watched.filter((ref) => ref.kind === 'Namespace' && findLive(ref, world)),
    world,
    context,
  )
}
