/**
 * Removing what left the site file, as the last stage of a run: only what the inventory lists and we still own, never
 * a pool whose addresses are in use, never a namespace with volumes, never node networking before its interfaces are
 * gone from the nodes.
 */
import type { KubeObject } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import { parseAddress } from '../net/address.ts'
import { setContains } from '../net/range-set.ts'
import { CLOUD_LABEL, MANAGED_BY_LABEL } from '../render/labels.ts'
import { notPruned } from '../run/findings.ts'
import type { Stage, StageContext } from '../run/stage.ts'
import { ingressAddresses } from '../verify/readiness/load-balancer.ts'
import { poolRanges } from './adopt/old-pools.ts'
import { readInventory, refKey, writeInventory } from './inventory.ts'
import { removeNodePolicies } from './node-policies.ts'
import type { Leftover } from './site-changes.ts'
import { NODE_NETWORKING } from './stage-table.ts'

/** Runs when everything before it went well: what takes the place of the old must be there first. */
export function pruneStage(leftovers: readonly Leftover[], client: KubeClient, before: readonly Stage[]): Stage {
  return {
    id: 'prune',
    name: 'prune',
    after: before.map(({ id }) => ({ id, why: 'nothing goes before what takes its place is there' })),
    locks: [NODE_NETWORKING],
    check: async () =>
      leftovers.length === 0
        ? { kind: 'satisfied', reason: 'nothing has left the site' }
        : { kind: 'needed', reason: `${leftovers.length} objects have left the site` },
    work: (context) => pruneLeftovers(leftovers, client, context),
  }
}

/** Deletes what may go and trims the inventory; says what stays and why. */
async function pruneLeftovers(
  leftovers: readonly Leftover[],
  client: KubeClient,
  context: StageContext,
): Promise<void> {
  const users = await listDependents(leftovers, client)
  const gone: Leftover[] = []
  const policies: Leftover[] = []
  for (const leftover of leftovers) {
    context.stop.throwIfAborted()
    const { ref } = leftover
    const live = await client.get(ref)
    const why = live && reasonToKeep(leftover, live, users)
    if (why !== undefined) context.emit({ kind: 'finding', finding: finding(notPruned, { object: refKey(ref), why }) })
    else if (live && isPolicy(leftover)) policies.push(leftover)
    else {
      if (live) await remove(client, live, leftover, context)
      gone.push(leftover)
    }
  }
  const refs = policies.map(({ ref }) => ref)
  await removeNodePolicies(refs, client, context)
  await trimInventories(client, [...gone, ...policies])
}

async function remove(client: KubeClient, live: KubeObject, { ref }: Leftover, context: StageContext): Promise<void> {
  const { uid } = live.metadata
  await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
  context.emit({ kind: 'applied', change: 'deleted', object: ref })
}

function isPolicy({ ref }: Leftover): boolean {
  return formatGroupKind(ref) === 'nmstate.io/NodeNetworkConfigurationPolicy'
}

/** Who might stand on what is to go. */
export interface Dependents {
  readonly services: readonly KubeObject[]
  readonly claims: readonly KubeObject[]
}

/** Asked only for what somebody can stand on: most prunes concern neither pools nor namespaces. */
async function listDependents(leftovers: readonly Leftover[], client: KubeClient): Promise<Dependents> {
  const listOf = async (needed: boolean, kind: string): Promise<readonly KubeObject[]> =>
    needed ? (await client.list({ apiVersion: 'v1', kind })).items : []
  const has = (groupKind: string): boolean => leftovers.some(({ ref }) => formatGroupKind(ref) === groupKind)
  return {
    services: await listOf(has('metallb.io/IPAddressPool'), 'Service'),
    claims: await listOf(has('Namespace'), 'PersistentVolumeClaim'),
  }
}

/** Why an object must stay, or undefined. Pure. */
export function reasonToKeep(
  { ref, cloud }: Leftover,
  live: KubeObject,
  { services, claims }: Dependents,
): string | undefined {
  const { name, labels = {} } = live.metadata
  if (ref.adopted) return 'it was there before Stackloom'
  if (labels[MANAGED_BY_LABEL] !== 'stackloom') return 'it is not ours any more'
  if (labels[CLOUD_LABEL] !== cloud) return `it belongs to ${labels[CLOUD_LABEL] ?? 'what the clouds share'}`
  switch (formatGroupKind(live)) {
    case 'metallb.io/IPAddressPool': {
      const ranges = poolRanges(live)
      const used = [...new Set(services.flatMap(ingressAddresses))].filter((address) => {
        const parsed = parseAddress(address)
        return parsed !== undefined && setContains(ranges, parsed)
      })
      return countReason(used.length, 'of its addresses are in use')
    }
    case 'Namespace': {
      const held = claims.filter(({ metadata }) => metadata.namespace === name)
      return countReason(held.length, 'volume claims are in it')
    }
    default:
      return undefined
  }
}

function countReason(many: number, what: string): string | undefined {
  return many > 0 ? `${many} ${what}` : undefined
}

async function trimInventories(client: KubeClient, gone: readonly Leftover[]): Promise<void> {
  for (const cloud of new Set(gone.map((leftover) => leftover.cloud))) {
    const inventory = await readInventory(client, cloud)
    if (!inventory) continue
    const ids = new Set(gone.filter((leftover) => leftover.cloud === cloud).map(({ ref }) => refKey(ref)))
    await writeInventory(client, {
      ...inventory,
      objects: inventory.objects.filter((ref) => !ids.has(refKey(ref))),
    })
  }
}
