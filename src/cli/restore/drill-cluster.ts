/**
 * Provides the cluster of a drill: a new sandbox with a real API server, real MetalLB, our address controllers and simulated
 * OpenStack operators. It is removed afterwards, whatever the restore did.
 */
import { createServer } from 'node:net'
import { GALERA_BACKUP } from '../../backup/backup-kinds.ts'
import type { CheckedArchive } from '../../deploy/backup/restore-cloud.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { runOperator } from '../../operator/run-operator.ts'
import { resetSandbox, startSandbox } from '../../sandbox/sandbox.ts'
import { openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'
import { sandboxContext } from '../sandbox/context.ts'
import { progressPrinter } from '../sandbox/progress-printer.ts'

export async function withDrillCluster(
  archive: CheckedArchive,
  io: Io,
  work: (kubeconfig: string, archive: CheckedArchive) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { manifest } = archive
  const { notify, end } = progressPrinter(io)
  const context = sandboxContext(io, notify)
  const name = `drill-${process.pid}`
  try {
    const actors = ['kubelet', 'nmstate', 'openstack']
    const { kubeconfig } = await startSandbox({ name, crds: 'own', actors, nodes: ['worker-0'] }, context)
    end()
    io.stderr(`the drill runs in sandbox ${name}: backup ${manifest.name} of ${manifest.cloud}\n`)
    return await withAddressControllers(kubeconfig, io, () => work(kubeconfig, withoutVolumes(archive)))
  } finally {
    end()
    // Not with the stop signal: also after Ctrl-C nothing may stay.
    await resetSandbox(name, context)
  }
}

/** A sandbox has neither Velero nor databases. */
function withoutVolumes(archive: CheckedArchive): CheckedArchive {
  const { volumes: _, ...manifest } = archive.manifest
  return { ...archive, manifest, objects: archive.objects.filter(({ kind }) => kind !== GALERA_BACKUP.kind) }
}

async function withAddressControllers(kubeconfig: string, io: Io, work: () => Promise<ExitCode>): Promise<ExitCode> {
  const stop = new AbortController()
  const connection = await openCluster({ kubeconfig }, io)
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  const options = { env: {}, webhookPort, healthPort, bind: '127.0.0.1', leaderElection: false, parts: ['ipam'] }
  const running = runOperator(connection, options, () => undefined, stop.signal)
  try {
    return await Promise.race([work(), running.then(() => 1 as const)])
  } finally {
    stop.abort()
    await running.catch(() => undefined)
    await connection.close()
  }
}

/** Held together, so that no port is given twice. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
