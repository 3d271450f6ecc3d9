/**
 * Builds the stages that remove what the clouds share, after the last cloud: node networking, then the operators that
 * we installed and that no other object of the cluster needs.
 */

import type { GroupVersionKind } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { finding } from '../../errors/finding.ts'
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

export function sharedDownStages(
  deps: CloudDownDeps,
  inventory: Inventory,
  clouds: readonly string[],
): readonly Stage[] {
  const afterClouds = clouds.map((cloud) => ({ id: `${cloud}/proof`, why: 'the clouds go first' }))
  const policies = inventory.objects.filter((ref) => formatGroupKind(ref) === NODE_POLICY)
  const nodeNetworking: Stage = {
    id: 'nncp',
    name: 'nncp',
    after: afterClouds,
    locks: [NODE_NETWORKING],
    work: (context) => removeNodePolicies(policies, deps.client, context, deps.view),
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
  const versions = ofKinds('Subscription').flatMap((ref) => installedVersion(ref, view))
  await deleteAll(ofKinds('Subscription'), deps, context)
  // OLM created the version for our Subscription and does not delete it with the Subscription.
  for (const version of versions) {
    if (await client.delete(version)) context.emit({ kind: 'applied', change: 'deleted', object: version })
  }
  if (versions.length > 0) {
    await view.watch(versions, context)
    await waitUntilGone(versions, deps, context)
  }
  await deleteAll(ofKinds('OperatorGroup', 'CatalogSource'), deps, context)
  await deleteAll(ofKinds('Namespace'), deps, context)
  // Without a version of ours the namespace came from another installation.
  if (operator.creates === undefined || versions.length === 0) return
  const created: InventoryEntry = { apiVersion: 'v1', kind: 'Namespace', name: operator.creates }
  if (await client.delete(created)) context.emit({ kind: 'applied', change: 'deleted', object: created })
  await waitUntilGone([created], deps, context)
}

function installedVersion(ref: InventoryEntry, view: LiveView): readonly InventoryEntry[] {
  const live = findLive(ref, view.index())
  const name = live && isManagedByStackloom(live) ? getString(live, 'status', 'installedCSV') : undefined
  const { namespace } = ref
  if (name === undefined || namespace === undefined) return []
  return [{ apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion', namespace, name }]
}

function isUsed({ usedBy }: OperatorDown, view: LiveView): boolean {
  const users = view.index().all(formatGroupKind(usedBy))
  return users.some((user) => !isManagedByStackloom(user))
}
