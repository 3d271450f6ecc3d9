/** What the stages that change a host have in common: the host, how to reach its cloud, and its node in a node set. */
import { isRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getField, getList, getString } from '../../api/raw-object.ts'
import { nodeSetKind } from '../../hosts/data-plane.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { ComputeHostApi } from '../../openstack/compute-host.ts'
import type { Stage, StageCheck } from '../../run/stage.ts'
import type { LiveView } from '../live-view.ts'
import type { DrainLimits } from './drain-host.ts'

export const NETWORK_API = 'network.openstack.org/v1beta1'

/** Attempts where another program may write in between. */
export const ATTEMPTS = 20

export type HostAction = 'remove' | 'drain' | 'enable'

export interface HostToChange {
  readonly cloud: string
  readonly namespace: string
  /** The short name, as in the node set, the IPSet and the inventory of Ansible. */
  readonly host: string
}

/** What the stages need. */
export interface HostChange extends HostToChange {
  readonly action: HostAction
  readonly client: KubeClient
  readonly api: ComputeHostApi
  /** Migrate the instances; otherwise they are a reason to stop. */
  readonly drain: boolean
  /** The host is off for good, so its services cannot be stopped. */
  readonly isOff: boolean
  readonly limits: DrainLimits
}

/** The same for stages that wait for deployments. */
export interface WatchedHostChange extends HostChange {
  readonly view: LiveView
}

export type Step = Pick<Stage, 'check' | 'work'> & { readonly name: string; readonly why: string }

export const satisfied = (reason: string): StageCheck => ({ kind: 'satisfied', reason })
export const needed: StageCheck = { kind: 'needed' }

/** The node set of the host and the key of its node. */
export async function findNode(
  { client, namespace, host }: Pick<HostChange, 'client' | 'namespace' | 'host'>,
  signal: AbortSignal,
): Promise<{ readonly nodeSet: KubeObject; readonly key: string } | undefined> {
  const { items } = await client.list(nodeSetKind, { namespace, signal })
  for (const nodeSet of items) {
    const key = findNodeKey(nodeSet, host)
    if (key !== undefined) return { nodeSet: { ...nodeSet, ...nodeSetKind }, key }
  }
  return undefined
}

export function findNodeKey(nodeSet: KubeObject, host: string): string | undefined {
  const nodes = getField(nodeSet, 'spec', 'nodes')
  const isHost = (name: string): boolean => name === host || name.startsWith(`${host}.`)
  return Object.entries(isRecord(nodes) ? nodes : {}).find(([key, node]) =>
    isHost(getString(node, 'hostName') ?? key),
  )?.[0]
}

export const dnsDataKind = { apiVersion: NETWORK_API, kind: 'DNSData' } as const

/** Whether names of this host are in a DNSData. */
export function namesHost(data: KubeObject, host: string): boolean {
  return getList(data, 'spec', 'hosts').some((entry) => isEntryOf(entry, host))
}

export function isEntryOf(entry: unknown, host: string): boolean {
  return getList(entry, 'hostnames').some((name) => name === host || String(name).startsWith(`${host}.`))
}
