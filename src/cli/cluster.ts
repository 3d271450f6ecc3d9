/**
 * Connects a command to its cluster by `--kubeconfig`, `--context` and, where it has a meaning, `-n`, as kubectl does.
 *
 * The client is loaded on the first connection, so that other commands start without it.
 */
import path from 'node:path'
import type { Command } from 'commander'
import type { GroupVersionKind } from '../api/object.ts'
import { Failure } from '../errors/failure.ts'
import { finding } from '../errors/finding.ts'
import type { Connection } from '../kube/connect.ts'
import { emptyDump, serverWarning, unreadKind } from '../kube/findings/api-server.ts'
import type { SnapshotOptions, SnapshotResult } from '../kube/snapshot.ts'
import type { TransportOptions } from '../kube/transport.ts'
import type { Io } from './io.ts'
import { printFindings } from './output/findings.ts'

export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

/** For commands on a whole site, which have no use for a namespace. */
export function withConnectionFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'use this kubeconfig (default: KUBECONFIG, ~/.kube/config, the pod)')
    .option('--context <context>', 'use this context of the kubeconfig (default: its current context)')
}

export function withClusterFlags(command: Command, use = 'use this namespace'): Command {
  return withConnectionFlags(command).option('-n, --namespace <namespace>', use)
}

/** Sends nothing yet; the caller closes the connection. Warnings of the server go to stderr, each once. */
export async function openCluster(
  flags: ClusterFlags,
  io: Io,
  options: Pick<TransportOptions, 'connections'> = {},
): Promise<Connection> {
  const { connect } = await import('../kube/connect.ts')
  const printed = new Set<string>()
  const { verbose } = io
  const connection = await connect({
    ...options,
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    namespace: flags.namespace,
    env: io.env,
    interactive: io.interactive,
    onWarning: (text) => {
      if (printed.has(text)) return
      printed.add(text)
      printFindings([finding(serverWarning, { text })], io)
    },
    ...(verbose && {
      onResponse: ({ method, path: target }, status) => verbose(`${method} ${target} ${status}`),
    }),
  })
  verbose?.(`connect to ${connection.server}, context ${connection.context ?? '(none)'}`)
  return connection
}

/** Reads the objects of a live cluster, or of a folder of dumps (`--from DIR`). */
export async function gatherSnapshot(
  source: ClusterFlags & { readonly from?: string },
  kinds: readonly GroupVersionKind[],
  io: Io,
  options: Omit<SnapshotOptions, 'signal'> = {},
): Promise<SnapshotResult> {
  if (source.from !== undefined) {
    const { loadDump } = await import('../kube/dump.ts')
    return withTypedObjects(await loadDump(path.resolve(io.cwd, source.from), kinds, io.stop))
  }
  const { takeSnapshot } = await import('../kube/snapshot.ts')
  const connection = await openCluster(source, io)
  try {
    return withTypedObjects(await takeSnapshot(connection.client, kinds, { ...options, signal: io.stop }))
  } finally {
    await connection.close()
  }
}

/** Leaves out fields that would break the code for their kind, and reports them. */
export async function withTypedObjects(result: SnapshotResult): Promise<SnapshotResult> {
  const { keepTypedFields } = await import('../kube/typed-snapshot.ts')
  const { addressBlockKind } = await import('../api/address-block.ts')
  const { dnsDataKind } = await import('../api/dnsdata.ts')
  const { dnsMasqKind } = await import('../api/dnsmasq.ts')
  const { ipSetKind, reservationKind } = await import('../api/ipset.ts')
  const { netConfigKind } = await import('../api/netconfig-kind.ts')
  const { nodeServices, servedKinds, fallbackKinds } = await import('../dataplane/service-definitions/all.ts')
  return keepTypedFields(result, [
    addressBlockKind,
    dnsDataKind,
    dnsMasqKind,
    ipSetKind,
    reservationKind,
    netConfigKind,
    ...servedKinds(nodeServices),
    ...fallbackKinds(nodeServices),
  ])
}

/** Fails for a dump without objects, which would pass every check, and reports its broken files. */
export function refuseEmptyDump({ snapshot, findings }: SnapshotResult, from: string): void {
  if (snapshot.objects.length > 0 || snapshot.unread.length === 0) return
  const broken = findings.filter(({ code }) => code !== unreadKind.code)
  throw new Failure([...broken, finding(emptyDump, { where: from })])
}
