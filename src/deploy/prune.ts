/**
 * Deletes objects that left the site file, as the last stage of a run: only what the inventory lists and we still own.
 *
 * Never deletes a pool whose addresses are in use, a namespace with volumes, or node networking before its interfaces
 * are removed from the nodes.
 */

import type { KubeObject } from '../api/object.ts'
import { isManagedByStackloom } from '../api/ownership.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import { parseAddress } from '../net/address.ts'
import { setContains } from '../net/range-set.ts'
import { CLOUD_LABEL } from '../render/labels.ts'
import type { Stage, StageContext } from '../run/stage.ts'
import { ingressAddresses } from '../verify/readiness/load-balancer.ts'
import { isRunningDeployment } from '../verify/running-deployments.ts'
import { poolRanges } from './adopt/old-pools.ts'
import { notPruned } from './findings/up.ts'
import { confirmDeletion } from './interrupted-deployments.ts'
import { readInventory, refKey, writeInventory } from './inventory.ts'
import { removeNodePolicies } from './node-policies.ts'
import { NODE_POLICY } from './object-changes.ts'
import type { Leftover } from './site-changes.ts'
import { NODE_NETWORKING } from './stage-table.ts'

/** Runs only after all other stages succeeded, because the replacement of an old object must exist first. */
export function pruneStage(
  leftovers: readonly Leftover[],
  client: KubeClient,
  before: readonly Stage[],
  mayInterrupt = false,
): Stage {
  return {
    id: 'prune',
    name: 'prune',
    after: before.map(({ id }) => ({ id, why: 'the replacement must exist before the old object is deleted' })),
    locks: [NODE_NETWORKING],
    check: async () =>
      leftovers.length === 0
        ? { kind: 'satisfied', reason: 'nothing has left the site' }
        : { kind: 'needed', reason: `${leftovers.length} objects have left the site` },
    work: (context) => pruneLeftovers(leftovers, client, context, mayInterrupt),
  }
}

async function pruneLeftovers(
  leftovers: readonly Leftover[],
  client: KubeClient,
  context: StageContext,
  mayInterrupt: boolean,
): Promise<void> {
  const dependents = await listDependents(leftovers, client)
  const deleted: Leftover[] = []
  const policies: Leftover[] = []
  for (const leftover of leftovers) {
    context.stop.throwIfAborted()
    const { ref } = leftover
    const live = await client.get(ref)
    const why = live && (reasonToKeep(leftover, live, dependents) ?? reasonToWait(live, mayInterrupt))
    if (why !== undefined) context.emit({ kind: 'finding', finding: finding(notPruned, { object: refKey(ref), why }) })
    else if (live && formatGroupKind(ref) === NODE_POLICY) policies.push(leftover)
    else {
      if (live) {
        const { uid } = live.metadata
        await confirmDeletion(live, mayInterrupt, client)
        await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
        context.emit({ kind: 'applied', change: 'deleted', object: ref })
      }
      deleted.push(leftover)
    }
  }
  const policyRefs = policies.map(({ ref }) => ref)
  await removeNodePolicies(policyRefs, client, context)
  await trimInventories(client, [...deleted, ...policies])
}

/** Objects that may depend on a leftover. */
export interface Dependents {
  readonly services: readonly KubeObject[]
  readonly claims: readonly KubeObject[]
}

/** Lists only what is needed: most prunes concern neither pools nor namespaces. */
async function listDependents(leftovers: readonly Leftover[], client: KubeClient): Promise<Dependents> {
  const has = (groupKind: string): boolean => leftovers.some(({ ref }) => formatGroupKind(ref) === groupKind)
  const list = async (needed: boolean, kind: string): Promise<readonly KubeObject[]> =>
    needed ? (await client.list({ apiVersion: 'v1', kind })).items : []
  return {
    services: await list(has('metallb.io/IPAddressPool'), 'Service'),
    claims: await list(has('Namespace'), 'PersistentVolumeClaim'),
  }
}

/** Why an object must stay, or undefined. Pure. */
export function reasonToKeep(
  { ref, cloud }: Leftover,
  live: KubeObject,
  { services, claims }: Dependents,
): string | undefined {
  const { name, labels = {} } = live.metadata
  if (ref.adopted) return 'it existed before Stackloom'
  if (!isManagedByStackloom(live)) return 'it is no longer managed by Stackloom'
  if (labels[CLOUD_LABEL] !== cloud) return `it belongs to ${labels[CLOUD_LABEL] ?? 'what the clouds share'}`
  switch (formatGroupKind(live)) {
    case 'metallb.io/IPAddressPool': {
      const ranges = poolRanges(live)
      const used = [...new Set(services.flatMap(ingressAddresses))].filter((text) => {
        const address = parseAddress(text)
        return address !== undefined && setContains(ranges, address)
      })
      return used.length > 0 ? `${used.length} of its addresses are in use` : undefined
    }
    case 'Namespace': {
      const count = claims.filter(({ metadata }) => metadata.namespace === name).length
      return count > 0 ? `${count} volume claims are in it` : undefined
    }
    default:
      return undefined
  }
}

/** A deployment that started after the user was asked stays until the next run. */
function reasonToWait(live: KubeObject, mayInterrupt: boolean): string | undefined {
  return isRunningDeployment(live) && !mayInterrupt ? 'it runs, and its hosts may stay partly configured' : undefined
}

/** Takes deleted objects out of the records of their clouds. */
export async function trimInventories(client: KubeClient, deleted: readonly Leftover[]): Promise<void> {
  for (const cloud of new Set(deleted.map((leftover) => leftover.cloud))) {
    const inventory = await readInventory(client, cloud)
    if (!inventory) continue
    const keys = new Set(deleted.filter((leftover) => leftover.cloud === cloud).map(({ ref }) => refKey(ref)))
    const objects = inventory.objects.filter((ref) => !keys.has(refKey(ref)))
    await writeInventory(client, { ...inventory, objects })
  }
}
