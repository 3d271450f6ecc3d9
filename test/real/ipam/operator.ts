/** The whole operator, as `stackloom operator run` starts it, against a test's cluster. */
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
  /** Resolves when its log says these words; throws when it ends first. */
  readonly says: (words: string) => Promise<void>
  readonly stop: () => Promise<void>
}

interface OperatorChanges extends Partial<RunOptions> {
  readonly noWebhooks?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** Started when its webhooks are registered, under an address of loopback unless told otherwise. */
export async function startOperator(cluster: Cluster, changes: OperatorChanges = {}): Promise<RunningOperator> {
  const operator = await launchOperator(cluster, changes)
  await operator.says('webhooks are served')
  return operator
}

/** The same, without waiting for anything. Several may run at once: nothing elects them unless asked. */
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
 * Ports of loopback that were free a moment ago: the webhooks are registered by theirs before they are served. They lie
 * below those that the kernel gives to whoever asks for any, so that nobody gets one meanwhile by accident.
 */
export async function freePorts(wanted: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < wanted) {
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
