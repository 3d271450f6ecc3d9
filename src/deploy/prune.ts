/**
 * Removing what left the site file: only what the inventory lists and we still own, never a pool whose addresses are
 * in use, never node networking before its interfaces are gone from the nodes.
 */
import type { KubeObject } from '../api/object.ts'
import { groupKindOf } from '../api/snapshot.ts'
import { notPruned } from '../errors/deploy.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import { MANAGED_BY } from '../render/labels.ts'
import type { StageContext } from '../run/stage.ts'
import { numberAt } from '../verify/readiness/read.ts'
import { readInventory, refId, writeInventory } from './inventory.ts'
import { removePolicies } from './node-policies.ts'
import type { Leftover } from './site-changes.ts'

/** Deletes what may go and trims the inventory; says what stays and why. */
export async function pruneLeftovers(
  leftovers: readonly Leftover[],
  client: KubeClient,
  context: StageContext,
): Promise<readonly Finding[]> {
  const kept: Finding[] = []
  const gone: Leftover[] = []
  const policies: Leftover[] = []
  for (const leftover of leftovers) {
    context.stop.throwIfAborted()
    const live = await client.get(leftover.ref)
    const why = live && reasonToKeep(live)
    if (why !== undefined) kept.push(finding(notPruned, { object: refId(leftover.ref), why }))
    else if (live && isPolicy(leftover.ref)) policies.push(leftover)
    else {
      if (live) await remove(client, live, leftover.ref, context)
      gone.push(leftover)
    }
  }
  await removePolicies(
    policies.map(({ ref }) => ref),
    client,
    context,
  )
  await trim(client, [...gone, ...policies])
  return kept
}

async function remove(
  client: KubeClient,
  live: KubeObject,
  ref: ObjectRef,
  context: StageContext,
): Promise<void> {
  const { uid } = live.metadata
  await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
  context.emit({ kind: 'applied', change: 'deleted', object: ref })
}

function isPolicy(ref: ObjectRef): boolean {
  return groupKindOf(ref) === 'nmstate.io/NodeNetworkConfigurationPolicy'
}

/** Why an object must stay, or undefined. */
export function reasonToKeep(live: KubeObject): string | undefined {
  if (live.metadata.labels?.[MANAGED_BY] !== 'stackloom') return 'it is not ours any more'
  if (groupKindOf(live) !== 'metallb.io/IPAddressPool') return undefined
  const used =
    (numberAt(live, 'status', 'assignedIPv4') ?? 0) + (numberAt(live, 'status', 'assignedIPv6') ?? 0)
  return used > 0 ? `${used} of its addresses are in use` : undefined
}

async function trim(client: KubeClient, gone: readonly Leftover[]): Promise<void> {
  for (const cloud of new Set(gone.map((one) => one.cloud))) {
    const inventory = await readInventory(client, cloud)
    if (!inventory) continue
    const ids = new Set(gone.filter((one) => one.cloud === cloud).map(({ ref }) => refId(ref)))
    await writeInventory(client, {
      ...inventory,
      objects: inventory.objects.filter((ref) => !ids.has(refId(ref))),
    })
  }
}
