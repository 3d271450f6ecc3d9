/**
 * A leader that counts: `counting-leader.ts KUBECONFIG NAMESPACE NAME`. Tests pause and resume it. It prints how its
 * leadership ended, and exits.
 */
import { systemClock } from '../../../src/clock/clock.ts'
import { connect } from '../../../src/kube/connect.ts'
import { runAsLeader } from '../../../src/kube/leader-election.ts'
import { leaderFencedClient, leaderGuard } from '../../../src/kube/leadership.ts'

const [kubeconfig = '', namespace = '', name = ''] = process.argv.slice(2)
const { client, close } = await connect({ kubeconfig, env: {} })
const timing = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200, attemptMs: 600 }
const options = { client, namespace, name, identity: 'paused one', clock: systemClock, timing }

const end = await runAsLeader(
  options,
  async ({ signal, isHeld }) => {
    const writer = leaderFencedClient(client, leaderGuard(isHeld))
    const count = async (number: number): Promise<void> => {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name },
        data: { count: `${number}` },
      }
      await writer.apply(object, { fieldManager: 'counter' })
    }
    for (let number = 1; !signal.aborted; number += 1) {
      await count(number).catch((error: Error) => console.log(error.message))
    }
  },
  new AbortController().signal,
)
console.log(end)
await close()
