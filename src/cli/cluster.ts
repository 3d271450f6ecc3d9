/**
 * The cluster of a command: `--kubeconfig`, `--context` and `-n` as kubectl has them, and the connection behind them.
 *
 * The client is loaded when a command first needs it, so that commands that never ask a cluster start without it.
 */
import path from 'node:path'
import type { Command } from 'commander'
import type { GroupVersionKind } from '../api/object.ts'
import { Failure } from '../errors/failure.ts'
import { finding } from '../errors/finding.ts'
import type { Connection } from '../kube/connect.ts'
import { emptyDump, serverWarning, unreadKind } from '../kube/findings/api-server.ts'
import type { SnapshotOptions, SnapshotResult } from '../kube/snapshot.ts'
import type { Io } from './io.ts'
import { formatFinding } from './output/findings.ts'

export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

export function withClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG, ~/.kube/config, the pod)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('-n, --namespace <name>', 'namespace to look at')
}

/** Opens the connection; nothing is sent yet. The caller closes it. Warnings of the server go to stderr, each once. */
export async function openCluster(flags: ClusterFlags, io: Io): Promise<Connection> {
  const { connect } = await import('../kube/connect.ts')
  const heard = new Set<string>()
  return connect({
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    namespace: flags.namespace,
    env: io.env,
    interactive: io.interactive,
    onWarning: (text) => {
      if (heard.has(text)) return
      heard.add(text)
      io.stderr(formatFinding(finding(serverWarning, { text }), io.colour.stderr))
    },
  })
}

/** What the cluster holds, or what a folder of dumps (`--from DIR`) says that it held. */
export async function gatherSnapshot(
  source: ClusterFlags & { readonly from?: string },
  kinds: readonly GroupVersionKind[],
  io: Io,
  options: Omit<SnapshotOptions, 'signal'> = {},
): Promise<SnapshotResult> {
  if (source.from !== undefined) {
    const { loadDump } = await import('../kube/dump.ts')
    return loadDump(path.resolve(io.cwd, source.from), kinds, io.stop)
  }
  const { takeSnapshot } = await import('../kube/snapshot.ts')
  const connection = await openCluster(source, io)
  try {
    return await takeSnapshot(connection.client, kinds, { ...options, signal: io.stop })
  } finally {
    await connection.close()
  }
}

/**
 * For commands that judge what they see: a dump that shows nothing of a cluster is not one of a cluster that is well.
 * Its broken files are named with it.
 */
export function refuseEmptyDump({ snapshot, findings }: SnapshotResult, from: string): void {
  if (snapshot.objects.length > 0 || snapshot.unread.length === 0) return
  const broken = findings.filter(({ code }) => code !== unreadKind.code)
  throw new Failure([...broken, finding(emptyDump, { where: from })])
}
