/** Plans the deployments that bring selected hosts level: one per cloud, limited to exactly these hosts. Pure. */
import { createHash } from 'node:crypto'
import { groupBy } from '../api/collections.ts'
import type { KubeObject } from '../api/object.ts'
import { deploymentKind } from './data-plane.ts'
import type { HostState, Verdict } from './judge-hosts.ts'
import { compareNames } from './name-order.ts'

export interface HostSelection {
  readonly behind: boolean
  readonly failed: boolean
}

/** `--behind`: hosts that lack something, also those that have nothing yet. */
export function isSelected({ behind, failed }: HostSelection, verdict: Verdict): boolean {
  return (behind && (verdict === 'behind' || verdict === 'never')) || (failed && verdict === 'failed')
}

export interface HostDeployment {
  readonly namespace: string
  readonly name: string
  readonly nodeSets: readonly string[]
  /** Undefined: every host of the node sets. */
  readonly limit?: string
  readonly hosts: readonly string[]
  /** Hosts that nova must discover afterwards. */
  readonly isFirst: boolean
}

/**
 * `existing` are the deployments that have ended: the name follows from them, so that a command that was interrupted
 * finds its deployment again, and one after a failure gets a new one.
 */
export function planHostDeployments(
  states: readonly HostState[],
  selection: HostSelection,
  existing: (namespace: string) => readonly string[],
): readonly HostDeployment[] {
  return [...groupBy(states, ({ namespace }) => namespace)].flatMap(([namespace, cloud]) => {
    const selected = cloud.filter(({ verdict }) => isSelected(selection, verdict))
    if (selected.length === 0) return []
    const nodeSets = [...groupBy(selected, ({ nodeSet }) => nodeSet).keys()].sort()
    const inNodeSets = cloud.filter(({ nodeSet }) => nodeSets.includes(nodeSet))
    // A limit selects by name, in all node sets of the deployment.
    const isAmbiguous = new Set(inNodeSets.map(({ host }) => host)).size < inNodeSets.length
    const parts = isAmbiguous ? nodeSets.map((nodeSet) => [nodeSet]) : [nodeSets]
    return parts.map((part) => {
      const members = inNodeSets.filter(({ nodeSet }) => part.includes(nodeSet))
      const chosen = members.filter(({ verdict }) => isSelected(selection, verdict))
      const hosts = chosen.map(({ host }) => host).sort(compareNames)
      const limit = chosen.length === members.length ? undefined : hosts.join(',')
      const name = `hosts-${hash([...part, limit ?? '', ...existing(namespace).toSorted()])}`
      const isFirst = chosen.some(isNewHypervisor)
      return { namespace, name, nodeSets: part, ...(limit !== undefined && { limit }), hosts, isFirst }
    })
  })
}

/** Nova never ran on the host, so no nova cell has it yet. */
function isNewHypervisor({ verdict, services, changes }: HostState): boolean {
  const missing =
    verdict === 'never' ? services : changes.flatMap((change) => (change.kind === 'never' ? change.services : []))
  return missing.some(isNova)
}

export function isNova(service: string): boolean {
  return service.startsWith('nova')
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 10)
}

export function renderHostDeployment({ namespace, name, nodeSets, limit }: HostDeployment): KubeObject {
  return {
    ...deploymentKind,
    metadata: { name, namespace },
    spec: { nodeSets, ...(limit !== undefined && { ansibleLimit: limit }) },
  }
}
