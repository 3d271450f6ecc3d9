/**
 * Orders the writes of node sets so that a host can move from one to another: the operator refuses a host that is in two.
 *
 * Pure. Addresses belong to hosts and are fixed in the node sets, so the new set's IPSet gets the same ones.
 */
import type { KubeObject } from '../api/object.ts'
import { getField } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { hostInLeftover } from './findings/up.ts'
import { findLive, type ObjectChange } from './object-changes.ts'
import type { Leftover } from './site-changes.ts'

const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'

export function nodeSetHosts(nodeSet: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return (getField(nodeSet, 'spec', 'nodes') as Readonly<Record<string, unknown>> | undefined) ?? {}
}

/** The hosts that leave a node set by this change. */
export function leavingHosts({ desired, live }: ObjectChange): readonly string[] {
  const kept = nodeSetHosts(desired)
  return Object.keys(nodeSetHosts(live)).filter((host) => !(host in kept))
}

/** Node sets that hosts leave, each without the hosts that still have to leave another one. To be written first. */
export function departures(changes: readonly ObjectChange[]): readonly ObjectChange[] {
  const leaving = new Set(changes.flatMap(leavingHosts))
  return changes
    .filter((change) => leavingHosts(change).length > 0)
    .map((change) => {
      const { desired, live } = change
      const before = nodeSetHosts(live)
      const hosts = Object.entries(nodeSetHosts(desired)).filter(([host]) => host in before || !leaving.has(host))
      const spec = { ...(desired['spec'] as object), nodes: Object.fromEntries(hosts) }
      return { ...change, desired: { ...desired, spec } as KubeObject }
    })
}

/** Hosts of the site that are still in a node set which left it: nothing of this run removes them from it. */
export function findHostsInLeftovers(
  documents: readonly KubeObject[],
  leftovers: readonly Leftover[],
  live: SnapshotIndex,
): readonly Finding[] {
  const planned = documents.filter((object) => formatGroupKind(object) === NODE_SET)
  return leftovers
    .filter(({ ref }) => formatGroupKind(ref) === NODE_SET)
    .flatMap(({ ref }) => {
      const hosts = nodeSetHosts(findLive(ref, live))
      return planned
        .filter(({ metadata }) => metadata.namespace === ref.namespace)
        .flatMap((nodeSet) => {
          const moved = Object.keys(nodeSetHosts(nodeSet)).filter((host) => host in hosts)
          const { name, namespace = '' } = ref
          const facts = { hosts: moved, from: name, to: nodeSet.metadata.name, namespace }
          return moved.length > 0 ? [finding(hostInLeftover, facts)] : []
        })
    })
}
