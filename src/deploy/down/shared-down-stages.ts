/**
 * Builds the stages that remove what the clouds share, after the last cloud: node networking, then the operators that
 * we installed and that no other object of the cluster needs.
 */

import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Stage, StageContext, StageDependency } from '../../run/stage.ts'
import { operatorInUse } from '../findings/down.ts'
import { deleteInventory, type Inventory, type InventoryEntry } from '../inventory.ts'
import type { LiveView } from '../live-view.ts'
import { removeNodePolicies } from '../node-policies.ts'
import { findLive, NODE_POLICY } from '../object-changes.ts'
import { NODE_NETWORKING } from '../stage-table.ts'
import type { CloudDownDeps } from './cloud-down-stages.ts'
import { deleteAll, releaseAdopted, verifyGone, waitUntilGone } from './delete.ts'

interface OperatorDown {
  readonly name: string
  readonly title: string
  /** Objects in these namespaces, or of these kinds, belong to the operator. */
  readonly namespaces: readonly string[]
  readonly kinds: readonly string[]
  /** A namespace that the operator creates and leaves behind. */
  readonly creates?: string
  /** An object of this kind that is not ours means that the operator is still needed. */
  readonly usedBy: GroupVersionKind
  readonly after: readonly StageDependency[]
}

const operators: readonly OperatorDown[] = [
  {
    name: 'openstack',
    title: 'the OpenStack operator',
    namespaces: ['openstack-operators'],
    kinds: ['operator.openstack.org/OpenStack'],
    usedBy: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' },
    after: [],
  },
  {
    name: 'cert-manager',
    title: 'cert-manager',
    namespaces: ['cert-manager-operator', 'cert-manager'],
    kinds: [],
    creates: 'cert-manager',
    usedBy: { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' },
    after: [{ id: 'openstack', why: 'its webhooks have certificates from there' }],
  },
  {
    name: 'metallb',
    title: 'MetalLB',
    namespaces: ['metallb-system'],
    kinds: ['metallb.io/MetalLB', 'metallb.io/BGPPeer', 'metallb.io/BFDProfile'],
    usedBy: { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
    after: [],
  },
  {
    name: 'nmstate',
    title: 'nmstate',
    namespaces: ['openshift-nmstate'],
    kinds: ['nmstate.io/NMState'],
    usedBy: { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
    after: [{ id: 'nncp', why: 'its handlers remove the interfaces' }],
  },
]

/** Kernel settings of the nodes: the Node Tuning Operator takes them back when the object is deleted. */
const TUNED = 'tuned.openshift.io/Tuned'

export function sharedDownStages(
  deps: CloudDownDeps,
  inventory: Inventory,
  clouds: readonly string[],
): readonly Stage[] {
  const afterClouds = clouds.map((cloud) => ({ id: `${cloud}/proof`, why: 'the clouds go first' }))
  const policies = inventory.objects.filter((ref) => formatGroupKind(ref) === NODE_POLICY)
  const settings = inventory.objects.filter((ref) => formatGroupKind(ref) === TUNED)
  const nodeNetworking: Stage = {
    id: 'nncp',
    name: 'nncp',
    after: afterClouds,
    locks: [NODE_NETWORKING],
    work: async (context) => {
      await removeNodePolicies(policies, deps.client, context, deps.view)
      await deleteAll(settings, deps, context)
    },
  }
  const stages = operators.map(
    (operator): Stage => ({
      id: operator.name,
      name: operator.name,
      after: [...afterClouds, ...operator.after],
      locks: [],
      work: (context) => uninstallOperator(operator, inventory, deps, context),
    }),
  )
  const proof: Stage = {
    id: 'proof',
    name: 'proof',
    after: [nodeNetworking, ...stages].map(({ id }) => ({ id, why: 'everything must be gone' })),
    locks: [],
    work: async (context) => {
      await releaseAdopted(inventory.objects, deps, context)
      const used = operators.filter((operator) => isUsed(operator, deps.view))
      const kept = new Set(used.flatMap((operator) => operatorRefs(operator, inventory)))
      const objects = inventory.objects.filter((ref) => !kept.has(ref))
      const kinds = await verifyGone({ ...inventory, objects }, deps, context)
      await deleteInventory(deps.client)
      context.emit({ kind: 'progress', message: `nothing is left among ${kinds} kinds` })
    },
  }
  return [nodeNetworking, ...stages, proof]
}

function operatorRefs({ namespaces, kinds }: OperatorDown, { objects }: Inventory): readonly InventoryEntry[] {
  return objects.filter(
    (ref) =>
      kinds.includes(formatGroupKind(ref)) ||
      namespaces.includes(ref.kind === 'Namespace' ? ref.name : (ref.namespace ?? '')),
  )
}

async function uninstallOperator(
  operator: OperatorDown,
  inventory: Inventory,
  deps: CloudDownDeps,
  context: StageContext,
): Promise<void> {
  const { client, view } = deps
  const refs = operatorRefs(operator, inventory)
  await view.watch([operator.usedBy, ...refs], context)
  if (isUsed(operator, view)) {
    context.emit({ kind: 'finding', finding: finding(operatorInUse, { operator: operator.title }) })
    return
  }
  const ofKinds = (...kinds: readonly string[]): readonly InventoryEntry[] =>
    refs.filter((ref) => kinds.includes(ref.kind))
  const olmKinds = ['Subscription', 'OperatorGroup', 'CatalogSource', 'Namespace']
  const operands = refs.filter((ref) => !olmKinds.includes(ref.kind))
  await deleteAll(operands, deps, context)
  const subscriptions = ofKinds('Subscription').flatMap((ref) => findOwnSubscription(ref, view))
  const created = await findCreated(operator, subscriptions, client)
  await deleteAll(ofKinds('Subscription'), deps, context)
  const versions = created.filter(({ kind }) => kind !== 'Namespace')
  for (const version of versions) await deleteCreated(version, client, context)
  if (versions.length > 0) {
    await view.watch(versions, context)
    await waitUntilGone(versions, deps, context)
  }
  await deleteAll(ofKinds('OperatorGroup', 'CatalogSource'), deps, context)
  await deleteAll(ofKinds('Namespace'), deps, context)
  const namespaces = created.filter(({ kind }) => kind === 'Namespace')
  for (const namespace of namespaces) await deleteCreated(namespace, client, context)
  await waitUntilGone(namespaces, deps, context)
}

const SUBSCRIPTION = { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'Subscription' }

/** The Subscription if we created it: one that existed before us was only adopted. */
function findOwnSubscription(ref: InventoryEntry, view: LiveView): readonly KubeObject[] {
  const live = ref.adopted ? undefined : findLive(ref, view.index())
  return live && isManagedByStackloom(live) ? [live] : []
}

interface CreatedObject extends InventoryEntry {
  readonly uid: string | undefined
}

/**
 * What OLM and the operator created for our Subscriptions: the installed versions, which OLM does not delete with them,
 * and the operator's namespace. A name proves nothing: what is older than the Subscription, or what another Subscription
 * uses, belongs to another installation.
 */
async function findCreated(
  { creates }: OperatorDown,
  subscriptions: readonly KubeObject[],
  client: KubeClient,
): Promise<readonly CreatedObject[]> {
  const created: CreatedObject[] = []
  for (const subscription of subscriptions) {
    const { namespace = '' } = subscription.metadata
    const name = getString(subscription, 'status', 'installedCSV')
    if (name === undefined) continue
    const { items } = await client.list(SUBSCRIPTION, { namespace })
    const isShared = items.some(
      (other) =>
        other.metadata.uid !== subscription.metadata.uid && getString(other, 'status', 'installedCSV') === name,
    )
    const version = { apiVersion: SUBSCRIPTION.apiVersion, kind: 'ClusterServiceVersion', namespace, name }
    const refs = isShared ? [] : [version, ...(creates === undefined ? [] : [namespaceRef(creates)])]
    for (const ref of refs) {
      const live = await client.get(ref)
      if (live && !isOlder(live, subscription)) created.push({ ...ref, uid: live.metadata.uid })
    }
  }
  return created
}

function namespaceRef(name: string): InventoryEntry {
  return { apiVersion: 'v1', kind: 'Namespace', name }
}

function isOlder(object: KubeObject, than: KubeObject): boolean {
  const [created = '', start = ''] = [object, than].map(({ metadata }) => metadata.creationTimestamp)
  return created < start
}

async function deleteCreated({ uid, ...ref }: CreatedObject, client: KubeClient, context: StageContext): Promise<void> {
  const isDeleted = await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
  if (isDeleted) context.emit({ kind: 'applied', change: 'deleted', object: ref })
}

function isUsed({ usedBy }: OperatorDown, view: LiveView): boolean {
  const users = view.index().all(formatGroupKind(usedBy))
  return users.some((user) => !isManagedByStackloom(user))
}
