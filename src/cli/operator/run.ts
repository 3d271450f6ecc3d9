/** Implements `stackloom operator run`: runs the operator with the selected cluster and logs to stderr. */
import { localRunsNeedLeader } from '../../dataplane/findings/runs.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Log } from '../../kube/log.ts'
import type { OperatorOptions } from '../../operator/options.ts'
import { runOperator } from '../../operator/run-operator.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'

export interface RunOptions extends ClusterFlags, Omit<OperatorOptions, 'env'> {
  readonly console?: boolean
  readonly consolePort?: number
}

/**
 * An object that a client creates takes two or three writes of the operator. With no more connections than that client
 * has, the objects would wait for the end of all creates.
 */
const CONNECTIONS = 16

export async function runCommand(options: RunOptions, io: Io): Promise<ExitCode> {
  if (options.runs === 'local' && !options.leaderElection) throw failure(localRunsNeedLeader, {}, { exitCode: 2 })
  const connection = await openCluster(options, io, { connections: CONNECTIONS })
  const log: Log = (entry) => io.stderr(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
  const page = options.console
    ? await (await import('./serve-console.ts')).serveOperatorConsole(options, log, io)
    : undefined
  try {
    await runOperator(connection, { ...options, env: io.env }, log, io.stop)
    return 0
  } finally {
    await page?.close()
    await connection.close()
  }
}
