/** Decides which reservations have no owner and may be freed, and lists what was looked at as proof. Pure. */
import type { KubeObject } from '../api/object.ts'
import { objectKey } from '../api/object.ts'
import { findCondition, getList, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { NODE } from '../verify/checks/check-definition.ts'
import { type AddressAudit, type AddressFault, auditKinds } from './audit-addresses.ts'

export interface RepairPlan {
  readonly free: readonly AddressFault[]
  /** Reservations that seem to have no owner, but a pod on one of these nodes may still use them. */
  readonly kept: readonly AddressFault[]
  readonly silentNodes: readonly string[]
  /** Every object that was looked at, by kind. */
  readonly proof: Readonly<Record<string, readonly string[]>>
}

const freeable: readonly AddressFault['kind'][] = ['leaked', 'leaked-overlap', 'orphaned']

export function planRepair({ faults }: AddressAudit, index: SnapshotIndex): RepairPlan {
  const silentNodes = findSilentNodes(index.all(formatGroupKind(NODE)))
  const nodesUnread = index.unread(formatGroupKind(NODE)) !== undefined
  const found = faults.filter(({ kind }) => freeable.includes(kind))
  // A Reservation is of a host outside the cluster: no node has a pod with its address.
  const isProven = ({ kind }: AddressFault): boolean =>
    kind === 'orphaned' || (silentNodes.length === 0 && !nodesUnread)
  return {
    free: found.filter(isProven),
    kept: found.filter((fault) => !isProven(fault)),
    silentNodes,
    proof: Object.fromEntries(
      auditKinds.map((kind) => [
        kind.kind,
        index
          .all(formatGroupKind(kind))
          .map(({ metadata }) => objectKey(metadata))
          .sort(),
      ]),
    ),
  }
}

/**
 * Nodes that may still run pods whose objects are gone. The taint out-of-service is how an administrator says that a node is
 * really off.
 */
function findSilentNodes(nodes: readonly KubeObject[]): readonly string[] {
  return nodes
    .filter((node) => findCondition(node, 'Ready')?.status !== 'True' && !isOutOfService(node))
    .map(({ metadata }) => metadata.name)
    .sort()
}

function isOutOfService(node: KubeObject): boolean {
  return getList(node, 'spec', 'taints').some(
    (taint) => getString(taint, 'key') === 'node.kubernetes.io/out-of-service',
  )
}

/** What two audits, some time apart, both have: a pod that was just deleted may still be releasing its address. */
export function intersectFaults(
  earlier: readonly AddressFault[],
  later: readonly AddressFault[],
): readonly AddressFault[] {
  const known = new Set(earlier.map(identify))
  return later.filter((fault) => known.has(identify(fault)))
}

function identify({ kind, address, object, entry }: AddressFault): string {
  return [kind, address, object.metadata.uid, entry?.offset, entry?.container, entry?.podRef].join(' ')
}
