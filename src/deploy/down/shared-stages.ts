/**
 * Taking down what the clouds share, after the last cloud: node networking, then the operators that we installed
 * and nobody else uses.
 */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { finding } from '../../errors/finding.ts'
import { MANAGED_BY_LABEL } from '../../render/labels.ts'
import type { Stage, StageContext, StageDependency } from '../../run/stage.ts'
import { operatorInUse } from '../findings/down.ts'
import { deleteInventory, type Inventory, type InventoryEntry } from '../inventory.ts'
import { removeNodePolicies } from '../node-policies.ts'
import { NODE_NETWORKING } from '../stage-table.ts'
import { deleteAll, findLive, waitUntilGone } from './delete.ts'
import { releaseAdopted } from './let-go.ts'
import { verifyGone } from './proof.ts'
import type { DownDeps } from './world.ts'

interface OperatorDown {
  readonly name: string
  readonly title: string
  /** Objects in these namespaces, or of these kinds, are this operator's. */
  readonly namespaces: readonly string[]
  readonly kinds: readonly string[]
  /** A namespace that the operator makes by itself and leaves behind. */
  readonly makes?: string
  /** An object of this kind that is not ours means that somebody else uses the operator. */
  readonly usedBy: GroupVersionKind
  readonly after: readonly StageDependency[]
}

const kind = (apiVersion: string, name: string): GroupVersionKind => ({ apiVersion, kind: name })

const operators: readonly OperatorDown[] = [
  {
    name: 'openstack',
    title: 'the OpenStack operator',
    namespaces: ['openstack-operators'],
    kinds: ['operator.openstack.org/OpenStack'],
    usedBy: kind('core.openstack.org/v1beta1', 'OpenStackControlPlane'),
    after: [],
  },
  {
    name: 'cert-manager',
    title: 'cert-manager',
    namespaces: ['cert-manager-operator', 'cert-manager'],
    kinds: [],
    makes: 'cert-manager',
    usedBy: kind('cert-manager.io/v1', 'Certificate'),
    after: [{ id: 'openstack', why: 'its webhooks have certificates from there' }],
  },
  {
    name: 'metallb',
    title: 'MetalLB',
    namespaces: ['metallb-system'],
    kinds: ['metallb.io/MetalLB', 'metallb.io/BGPPeer', 'metallb.io/BFDProfile'],
    usedBy: kind('metallb.io/v1beta1', 'IPAddressPool'),
    after: [],
  },
  {
    name: 'nmstate',
    title: 'nmstate',
    namespaces: ['openshift-nmstate'],
    kinds: ['nmstate.io/NMState'],
    usedBy: kind('nmstate.io/v1', 'NodeNetworkConfigurationPolicy'),
    after: [{ id: 'nncp', why: 'its handlers remove the interfaces' }],
  },
]

export function sharedDownStages(world: DownDeps, inventory: Inventory, clouds: readonly string[]): readonly Stage[] {
  const afterClouds = clouds.map((cloud) => ({ id: `${cloud}/proof`, why: 'the clouds go first' }))
  const policies = inventory.objects.filter(isPolicy)
  const nodeNetworking: Stage = {
    id: 'nncp',
    name: 'nncp',
    after: afterClouds,
    locks: [NODE_NETWORKING],
    work: (context) => removeNodePolicies(policies, world.client, context, world.lookout),
  }
  const stages = operators.map(
    (operator): Stage => ({
      id: operator.name,
      name: operator.name,
      after: [...afterClouds, ...operator.after],
      locks: [],
      work: (context) => uninstallOperator(operator, inventory, world, context),
    }),
  )
  const proof: Stage = {
    id: 'proof',
    name: 'proof',
    after: [nodeNetworking, ...stages].map(({ id }) => ({ id, why: 'everything must be gone' })),
    locks: [],
    work: async (context) => {
      await releaseAdopted(inventory.objects, world, context)
      const kept = new Set(
        operators
          .filter((operator) => isUsed(operator, world))
          .flatMap((operator) => operatorRefs(operator, inventory)),
      )
      const objects = inventory.objects.filter((ref) => !kept.has(ref))
      const seen = await verifyGone({ ...inventory, objects }, world, context)
      await deleteInventory(world.client)
      context.emit({ kind: 'progress', message: `nothing is left among ${seen} kinds` })
    },
  }
  return [nodeNetworking, ...stages, proof]
}

const isPolicy = (ref: InventoryEntry): boolean => formatGroupKind(ref) === 'nmstate.io/NodeNetworkConfigurationPolicy'

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
  world: DownDeps,
  context: StageContext,
): Promise<void> {
  const refs = operatorRefs(operator, inventory)
  await world.lookout.watch([operator.usedBy, ...refs], context)
  if (isUsed(operator, world)) {
    context.emit({ kind: 'finding', finding: finding(operatorInUse, { operator: operator.title }) })
    return
  }
  const of = (...names: readonly string[]): readonly InventoryEntry[] => refs.filter((ref) => names.includes(ref.kind))
  const olm = ['Subscription', 'OperatorGroup', 'CatalogSource', 'Namespace']
  await deleteAll(
    refs.filter((ref) => !olm.includes(ref.kind)),
    world,
    context,
  )
  const versions = of('Subscription').flatMap((ref) => installedVersion(ref, world))
  await deleteAll(of('Subscription'), world, context)
  // OLM made the version for our Subscription, and leaves it when the Subscription goes.
  for (const version of versions) {
    if (await world.client.delete(version)) context.emit({ kind: 'applied', change: 'deleted', object: version })
  }
  if (versions.length > 0) {
    await world.lookout.watch(versions, context)
    await waitUntilGone(versions, world, context)
  }
  await deleteAll(of('OperatorGroup', 'CatalogSource'), world, context)
  await deleteAll(of('Namespace'), world, context)
  // Only what our own installation made: a version of ours was there.
  if (operator.makes === undefined || versions.length === 0) return
  const left: InventoryEntry = { apiVersion: 'v1', kind: 'Namespace', name: operator.makes }
  if (await world.client.delete(left)) context.emit({ kind: 'applied', change: 'deleted', object: left })
  await waitUntilGone([left], world, context)
}

function installedVersion(ref: InventoryEntry, world: DownDeps): readonly InventoryEntry[] {
  const live = findLive(ref, world)
  const name = live && isOurs(live) ? getString(live, 'status', 'installedCSV') : undefined
  if (name === undefined || ref.namespace === undefined) return []
  return [
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      namespace: ref.namespace,
      name,
    },
  ]
}

function isOurs({ metadata }: KubeObject): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === 'stackloom'
}

function isUsed({ usedBy }: OperatorDown, { lookout }: DownDeps): boolean {
  return lookout
    .index()
    .all(formatGroupKind(usedBy))
    .some((one) => !isOurs(one))
}
