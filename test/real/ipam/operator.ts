/** The whole operator, as `stackloom operator run` starts it, against a test's cluster. */
import { createServer } from 'node:net'
import type { RunOptions } from '../../../src/cli/operator/options.ts'
import { runOperator } from '../../../src/cli/operator/run.ts'
import { reasonOf } from '../../../src/errors/failure.ts'
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
export async function startOperator(
  cluster: Cluster,
  changes: OperatorChanges = {},
): Promise<RunningOperator> {
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
  const [webhookPort, healthPort] = [await freePort(), await freePort()]
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
  const running = runOperator(options, io).then(
    (code) => void (ended = code),
    (error: unknown) => void (ended = error),
  )
  return {
    healthPort,
    webhookPort,
    said: io.err,
    says: async (words) => {
      while (!io.err().includes(words)) {
        if (ended !== undefined) throw new Error(`the operator ended: ${reasonOf(ended)}\n${io.err()}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    stop: async () => {
      control.abort()
      await running
    },
  }
}

/** A port of loopback that was free a moment ago: the webhooks are registered by it before they are served. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
