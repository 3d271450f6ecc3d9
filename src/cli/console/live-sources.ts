/** Opens the cluster or the dump that the console shows. Both answer as the commands would. */
import path from 'node:path'
import { indexSnapshot } from '../../api/snapshot.ts'
import { systemClock } from '../../clock/clock.ts'
import { type ClusterViewOptions, openClusterView } from '../../console/cluster-view.ts'
import { inventorySource, watchedKinds } from '../../console/live-kinds.ts'
import type { Gatherers, LiveSource } from '../../console/live-source.ts'
import { parseInventories } from '../../deploy/deployment-status.ts'
import { rules } from '../../doctor/rules.ts'
import { Failure } from '../../errors/failure.ts'
import { addCauses, failedRuns } from '../../hosts/run-logs.ts'
import type { KubeReader } from '../../kube/client.ts'
import type { Connection } from '../../kube/connect.ts'
import { noCluster } from '../../kube/findings/connection.ts'
import { gatherDumpedCertificates, gatherLiveCertificates } from '../certificates/gather-certificates.ts'
import { type ClusterFlags, openCluster, refuseEmptyDump, withTypedObjects } from '../cluster.ts'
import { gatherFromCluster, gatherFromDump } from '../doctor/gather-evidence.ts'
import { gatherDumpedHosts, gatherLiveHosts } from '../hosts/gather-hosts.ts'
import { readRunLogs } from '../hosts/read-run-logs.ts'
import type { Io } from '../io.ts'
import { readPodLog } from './pod-log.ts'

export interface OpenedSource {
  readonly source: LiveSource
  /** Options that name the source, for commands to copy. */
  readonly options: readonly string[]
}

export type SourceEvents = Pick<ClusterViewOptions, 'namespaces' | 'onChange' | 'onConnection' | 'onListed'>

/** Undefined without a kubeconfig. */
export async function openLiveSource(
  flags: ClusterFlags & { readonly from?: string },
  io: Io,
  events: SourceEvents,
): Promise<OpenedSource | undefined> {
  if (flags.from !== undefined) return { source: await openDump(flags.from, io), options: ['--from', flags.from] }
  const { kubeconfig, context } = flags
  const options = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(context === undefined ? [] : ['--context', context]),
  ]
  try {
    return { source: watchCluster(await openCluster(flags, io), events), options }
  } catch (thrown) {
    const isAbsent = thrown instanceof Failure && thrown.findings.some(({ code }) => code === noCluster.code)
    if (!isAbsent || kubeconfig !== undefined || context !== undefined) throw thrown
    return undefined
  }
}

export function watchCluster(connection: Connection, events: SourceEvents): LiveSource {
  const { client, server, context } = connection
  const view = openClusterView({
    client,
    clock: systemClock,
    ...events,
    onChange: (change) => {
      events.onChange(change)
      // A run adds objects of kinds that no cloud had before.
      if (change.groupKind === 'ConfigMap') void watchListed()
    },
  })
  const watchListed = (): Promise<void> =>
    view.watch(watchedKinds(parseInventories({ objects: view.index().all('ConfigMap'), unread: [] })))
  const start = async (): Promise<void> => {
    await view.watch([inventorySource])
    await watchListed()
  }
  return {
    description: { kind: 'live', server, ...(context !== undefined && { context }) },
    connection: view.connection,
    ready: start(),
    index: view.index,
    unread: view.unread,
    objects: view.objects,
    mayRead: view.mayRead,
    gather: liveGatherers(connection, view.reader),
    close: async () => {
      await view.close()
      await connection.close()
    },
  }
}

function liveGatherers(connection: Connection, reader: KubeReader): Gatherers {
  return {
    hosts: async (signal) => {
      const { states, findings } = await gatherLiveHosts(reader, signal)
      const logs = await readRunLogs(connection, failedRuns(states), signal)
      return { states: addCauses(states, logs), findings }
    },
    certificates: async (signal) => (await gatherLiveCertificates(reader, signal, systemClock.now())).certificates,
    evidence: async (namespaces, stop) => {
      // The console looks all the time, so it starts no process in a pod.
      const ask = (): Promise<string> => Promise.reject(new Error('the console runs no commands in pods'))
      return (await gatherFromCluster(reader, rules, { namespaces, ask, stop })).snapshot
    },
    logs: (namespace, deployment, signal) => readRunLogs(connection, [{ namespace, deployment }], signal, 'all'),
    podLog: (pod, log, signal) => readPodLog(connection, pod, log, signal),
  }
}

async function openDump(from: string, io: Io): Promise<LiveSource> {
  const { loadDump } = await import('../../kube/dump.ts')
  const folder = path.resolve(io.cwd, from)
  const kinds = [inventorySource.kind, ...watchedKinds([]).map(({ kind }) => kind)]
  const loaded = await withTypedObjects(await loadDump(folder, kinds, io.stop))
  refuseEmptyDump(loaded, from)
  const { snapshot } = loaded
  const inventories = parseInventories(snapshot)
  const more = await withTypedObjects(
    await loadDump(folder, [inventorySource.kind, ...watchedKinds(inventories).map(({ kind }) => kind)], io.stop),
  )
  const index = indexSnapshot(more.snapshot)
  const since = new Date(systemClock.now()).toISOString()
  return {
    description: { kind: 'dump', folder: from },
    connection: () => ({ kind: 'none', since }),
    ready: Promise.resolve(),
    index: () => index,
    unread: () => more.snapshot.unread,
    objects: () => more.snapshot.objects,
    mayRead: () => true,
    gather: {
      hosts: () => gatherDumpedHosts(from, io),
      certificates: async () => (await gatherDumpedCertificates(from, io, systemClock.now())).certificates,
      evidence: async (_, signal) => (await gatherFromDump(folder, rules, signal)).snapshot,
      logs: () => Promise.resolve([]),
      podLog: () => Promise.resolve('a dump has no logs that the console reads'),
    },
    close: () => Promise.resolve(),
  }
}
