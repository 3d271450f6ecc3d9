import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { siteOfPlan } from '../../../src/deploy/site-of-plan.ts'
import { up } from '../../../src/deploy/up.ts'
import type { RunReport } from '../../../src/run/engine.ts'
import type { RunEvent } from '../../../src/run/events.ts'
import { ingressOf } from '../../../src/verify/readiness/services.ts'
import { useCluster } from '../../cluster.ts'
import { testPlan } from '../../plan.ts'
import { type Cast, furnish, onStage } from './cast.ts'

const plan = testPlan({
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const site = siteOfPlan(plan)

describe('two clouds from nothing', { timeout: 180_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: Cast | undefined

  beforeAll(async () => {
    await furnish(cluster.client, site.nodes)
    cast = onStage(cluster.connection)
  })
  afterAll(() => cast?.leave())

  const run = async (events: RunEvent[] = []): Promise<RunReport> =>
    up({
      client: cluster.client,
      site,
      selection: {},
      run: 'test',
      what: 'up',
      sink: (event) => events.push(event),
      stop: new AbortController().signal,
      discoverHosts: async () => 'played by an actor',
    })

  it('end ready, every Service with an address of its own cloud', async () => {
    const report = await run()
    expect(report.stages.filter(({ outcome }) => outcome !== 'done' && outcome !== 'skipped')).toEqual([])
    for (const { namespace, vips } of site.clouds) {
      const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Service' }, { namespace })
      const addresses = items.flatMap(ingressOf)
      expect(addresses.length).toBeGreaterThan(3)
      expect(addresses.filter((address) => !vips.has(address))).toEqual([])
    }
  })

  it('are not written a second time', async () => {
    const events: RunEvent[] = []
    const report = await run(events)
    expect(report.outcome).toBe('done')
    const written = events.filter((event) => event.kind === 'applied' && event.change !== 'unchanged')
    expect(written).toEqual([])
  })
})
