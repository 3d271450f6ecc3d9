/** Starts the whole operator, like `stackloom operator run`, for a test's cluster. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { type RunOptions, runCommand } from '../../../src/cli/operator/run.ts'
import { formatError } from '../../../src/errors/failure.ts'
import type { Cluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'

export interface RunningOperator {
  readonly healthPort: number
  readonly webhookPort: number
  readonly said: () => string
  /** The exit code or the error with which it ended. */
  readonly ended: () => unknown
  /** Resolves when the log has this text; throws when the operator ends first. */
  readonly says: (words: string) => Promise<void>
  readonly stop: () => Promise<void>
}

interface OperatorChanges extends Partial<RunOptions> {
  readonly noWebhooks?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** Resolves when the webhooks are registered, by default with a loopback address. */
export async function startOperator(cluster: Cluster, changes: OperatorChanges = {}): Promise<RunningOperator> {
  const operator = await launchOperator(cluster, changes)
  await operator.says('webhooks are served')
  return operator
}

/** Starts it without waiting. Several may run at once: there is no leader election by default. */
export async function launchOperator(
  cluster: Cluster,
  { noWebhooks = false, env = {}, ...changes }: OperatorChanges = {},
): Promise<RunningOperator> {
  const control = new AbortController()
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  await cluster.expose(webhookPort)
  const io = testIo({ stop: control.signal, env })
  const registered = !noWebhooks && changes.webhookService === undefined && !changes.observe
  const options: RunOptions = {
    kubeconfig: cluster.kubeconfig,
    ...(registered && { webhookUrl: `https://127.0.0.1:${webhookPort}` }),
    webhookPort,
    healthPort,
    bind: '127.0.0.1',
    leaderElection: false,
    shutdownDelay: 0,
    ...changes,
  }
  let ended: unknown
  const running = runCommand(options, io).then(
    (code) => void (ended = code),
    (error: unknown) => void (ended = error),
  )
  return {
    healthPort,
    webhookPort,
    said: io.err,
    ended: () => ended,
    says: async (words) => {
      while (!io.err().includes(words)) {
        if (ended !== undefined) throw new Error(`the operator ended: ${formatError(ended)}\n${io.err()}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    stop: async () => {
      control.abort()
      await running
    },
  }
}

/**
 * Free loopback ports, known before the server listens, because webhooks are registered with theirs. They are below the
 * ephemeral range of the kernel, so that no other process gets them by accident.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
