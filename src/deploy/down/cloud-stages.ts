/**
 * Taking one cloud down: the reverse of its deployment, each step only after what it carries is gone.
 */
import { groupKindOf } from '../../api/snapshot.ts'
import { dataLeft } from '../../errors/down.ts'
import { finding } from '../../errors/finding.ts'
import { MANAGED_BY } from '../../render/labels.ts'
import { type After, type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { progressing, ready } from '../../verify/readiness/verdict.ts'
import { deleteInventory, type Inventory, type ListedObject, writeInventory } from '../inventory.ts'
import { removePolicies } from '../node-policies.ts'
import { NODE_NETWORKING } from '../stage-table.ts'
import { waitUntilReady } from '../wait.ts'
import { deleteAll, liveOf } from './delete.ts'
import { letGo } from './let-go.ts'
import { proveGone } from './proof.ts'
import type { DownWorld } from './world.ts'

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
function downStageOf(ref: ListedObject): DownStage {
  const groupKind = groupKindOf(ref)
  if (groupKind.startsWith('dataplane.openstack.org/')) return 'data-plane'
  if (groupKind.startsWith('core.openstack.org/')) return 'control-plane'
  if (groupKind.startsWith('network.openstack.org/')) return 'netconfig'
  if (groupKind.startsWith('metallb.io/') || groupKind.startsWith('admissionregistration.k8s.io/'))
    return 'metallb-config'
  if (groupKind.startsWith('k8s.cni.cncf.io/')) return 'netattach'
  return groupKind.startsWith('nmstate.io/') ? 'nncp' : 'namespace'
}

export function cloudDownStages(world: DownWorld, inventory: Inventory): readonly Stage[] {
  const { cloud = '' } = inventory
  const refsOf = (stage: DownStage): readonly ListedObject[] =>
    inventory.objects.filter((ref) => downStageOf(ref) === stage)
  const stage = (
    name: DownStage,
    after: readonly After[],
    work: (context: StageContext) => Promise<void>,
    locks: readonly string[] = [],
  ): Stage => ({ id: stageId(name, cloud), name, cloud, after, locks, work })
  const after = (name: DownStage, why: string): After => ({ id: stageId(name, cloud), why })
  const { namespace } = inventory

  return [
    stage('data-plane', [], (context) => deleteByRank(refsOf('data-plane'), world, context, namespace)),
    stage('control-plane', [after('data-plane', 'hosts still talk to it')], (context) =>
      deleteAll(refsOf('control-plane'), world, context, namespace),
    ),
    stage('netconfig', [after('control-plane', 'its DNS serves these networks')], async (context) => {
      await waitForNone(IPSET, 'IPSet', inventory, world, context)
      await deleteAll(refsOf('netconfig'), world, context, namespace)
    }),
    stage('metallb-config', [after('control-plane', 'its Services hold the addresses')], async (context) => {
      await waitForNone(SERVICE, 'LoadBalancer Service', inventory, world, context)
      await deleteAll(refsOf('metallb-config'), world, context)
    }),
    stage('netattach', [after('control-plane', 'its pods are attached')], (context) =>
      deleteAll(refsOf('netattach'), world, context, namespace),
    ),
    stage(
      'nncp',
      [
        after('netattach', 'pods stand on the interfaces'),
        after('metallb-config', 'addresses are announced there'),
      ],
      (context) => removePolicies(refsOf('nncp'), world.client, context, world.lookout),
      [NODE_NETWORKING],
    ),
    stage('namespace', [after('nncp', 'it goes last'), after('netconfig', 'it goes last')], (context) =>
      removeNamespace(inventory, refsOf('namespace'), world, context),
    ),
    stage('proof', [after('namespace', 'everything must be gone')], async (context) => {
      await letGo(inventory.objects, world, context)
      const seen = await proveGone(inventory, world, context)
      await closeInventory(inventory, refsOf('namespace'), world)
      context.emit({ kind: 'progress', message: `nothing is left among ${seen} kinds` })
    }),
  ]
}

/** What stays with a cloud's data stays listed: `--delete-data` can still take it away later. */
async function closeInventory(
  inventory: Inventory,
  kept: readonly ListedObject[],
  { client }: DownWorld,
): Promise<void> {
  const { namespace = '', cloud } = inventory
  const there = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  const isListed = kept.some(
    ({ kind, name, adopted }) => kind === 'Namespace' && name === namespace && !adopted,
  )
  if (there && isListed) await writeInventory(client, { ...inventory, objects: kept })
  else await deleteInventory(client, cloud)
}

/** Runs before node sets, node sets before what they refer to. */
async function deleteByRank(
  refs: readonly ListedObject[],
  world: DownWorld,
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
async function waitForNone(
  kind: { readonly apiVersion: string; readonly kind: string },
  what: string,
  { namespace = '' }: Inventory,
  { lookout }: DownWorld,
  context: StageContext,
): Promise<void> {
  await lookout.follow([kind], context)
  const look = () => {
    const there = lookout
      .index(namespace)
      .all(groupKindOf(kind))
      .filter(
        (one) =>
          kind.kind !== 'Service' || (one['spec'] as { type?: string } | undefined)?.type === 'LoadBalancer',
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
  refs: readonly ListedObject[],
  world: DownWorld,
  context: StageContext,
): Promise<void> {
  const watched = refs.filter(({ kind }) => kind !== 'Secret')
  await world.lookout.follow([CLAIM, ...watched], context)
  const claims = world.lookout.index(namespace).all('PersistentVolumeClaim')
  if (claims.length > 0 && !world.deleteData) {
    const names = claims.map(({ metadata }) => metadata.name)
    context.emit({ kind: 'finding', finding: finding(dataLeft, { cloud, namespace, claims: names }) })
    return
  }
  // Secrets are looked at by name: nobody needs to read those of a whole cluster for that.
  for (const ref of refs.filter(({ kind }) => kind === 'Secret')) {
    context.stop.throwIfAborted()
    // One that was there before us was never overwritten, so it is not ours to delete.
    const live = await world.client.get(ref)
    if (live?.metadata.labels?.[MANAGED_BY] !== 'stackloom') continue
    if (await world.client.delete(ref)) context.emit({ kind: 'applied', change: 'deleted', object: ref })
  }
  const others = watched.filter(({ kind }) => kind !== 'Namespace')
  await deleteAll(others, world, context, namespace)
  await deleteAll(
    watched.filter((ref) => ref.kind === 'Namespace' && liveOf(ref, world)),
    world,
    context,
  )
}
