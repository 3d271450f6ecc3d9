import { expect, it } from 'vitest'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import { ago, context, object } from '../../../test/readiness.ts'
import { type Clock, systemClock } from '../../clock/clock.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { defaultGrace } from '../../verify/readiness/verdict.ts'
import { createLimiter } from '../apply.ts'
import { openLiveView } from '../live-view.ts'
import { applyAndWait } from './apply-and-wait.ts'

const service = (ips: readonly string[]) =>
  object({
    kind: 'Service',
    namespace: 'openstack',
    name: 'keystone-internal',
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  })
const refusal = object({
  kind: 'Event',
  namespace: 'openstack',
  name: 'refusal',
  reason: 'AllocationFailed',
  message: 'the pool does not exist',
  firstTimestamp: ago(3_600_000),
  involvedObject: { kind: 'Service', namespace: 'openstack', name: 'keystone-internal' },
})

/** The Service has a refusal from before the stage, and gets its address after this time, if ever. */
async function waitForService(addressAfterMs: number): Promise<void> {
  const { client } = memoryCluster()
  const view = openLiveView(client)
  const start = Date.parse(ago(0))
  let now = start
  // Time passes only where the stage waits.
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    sleep: async (ms) => {
      now += ms
    },
  }
  const stage = applyAndWait(
    {
      client,
      view,
      force: false,
      limiter: createLimiter(1),
      readiness: () => {
        const live = service(now - start >= addressAfterMs ? ['172.17.0.80'] : [])
        return context([live, refusal], { now })
      },
    },
    { objects: [], also: (around) => liveReadiness(around.around.all('Service')[0] ?? refusal, around) },
  )
  try {
    await stage.work({ emit: () => undefined, stop: neverAborted(), clock })
  } finally {
    await view.close()
  }
}

it('waits for a Service whose failure is older than the apply', async () => {
  await expect(waitForService(defaultGrace.allocationMs / 2)).resolves.toBeUndefined()
})

it('reports the failure if it lasts after the apply', async () => {
  await expect(waitForService(Number.POSITIVE_INFINITY)).rejects.toThrow('the pool does not exist')
})
