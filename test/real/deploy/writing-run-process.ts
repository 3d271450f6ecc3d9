/**
 * A run that writes under the Lease of `up`: `writing-run-process.ts KUBECONFIG NAME`. Tests pause and resume it.
 *
 * It applies a ConfigMap with a growing count over several connections at once, prints each refusal, and exits.
 */
import { runIdentity, withRunLease } from '../../../src/deploy/run-lease.ts'
import { connect } from '../../../src/kube/connect.ts'

const [kubeconfig = '', name = ''] = process.argv.slice(2)
const { client, close } = await connect({ kubeconfig, env: {}, connections: 2 })
const timing = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200, attemptMs: 600 }
const stop = new AbortController().signal

await withRunLease({ client, identity: runIdentity(), stop, timing }, async ({ lost, client: fenced }) => {
  let number = 0
  /** More writers than connections: some writes always wait for one, and none of them may be sent after a pause. */
  const write = async (): Promise<void> => {
    while (!lost.aborted) {
      number += 1
      const data = { count: `${number}`, sent: `${performance.timeOrigin + performance.now()}` }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'stackloom-system', name }, data }
      await fenced.apply(object, { fieldManager: 'writer' }).catch((error: Error) => {
        console.log(error.message)
      })
    }
  }
  await Promise.all(Array.from({ length: 8 }, write))
})
await close()
