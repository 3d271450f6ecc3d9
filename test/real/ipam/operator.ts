/** The whole operator, as `stackloom operator run` starts it, against a test's cluster. */
import { createServer } from 'node:net'
import { runOperator } from '../../../src/cli/operator/run.ts'
import { reasonOf } from '../../../src/errors/failure.ts'
import type { Cluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'

export interface RunningOperator {
  readonly healthPort: number
  readonly said: () => string
  readonly stop: () => Promise<void>
}

/** Started when its webhooks are registered. Several may run at once: nothing elects them. */
export async function startOperator(cluster: Cluster): Promise<RunningOperator> {
  const control = new AbortController()
  const [webhookPort, healthPort] = [await freePort(), await freePort()]
  await cluster.expose(webhookPort)
  const io = testIo({ stop: control.signal })
  const options = {
    kubeconfig: cluster.kubeconfig,
    webhookUrl: `https://127.0.0.1:${webhookPort}`,
    webhookPort,
    healthPort,
    bind: '127.0.0.1',
    leaderElection: false,
  }
  let ended: unknown
  const running = runOperator(options, io).then(
    (code) => void (ended = code),
    (error: unknown) => void (ended = error),
  )
  while (!io.err().includes('webhooks are served')) {
    if (ended !== undefined) throw new Error(`the operator ended: ${reasonOf(ended)}\n${io.err()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const stop = async (): Promise<void> => {
    control.abort()
    await running
  }
  return { healthPort, said: io.err, stop }
}

/** A port of loopback that was free a moment ago: the webhooks are registered by it before they are served. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
