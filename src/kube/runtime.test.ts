import { describe, expect, it } from 'vitest'
import { manualClock, settled } from '../../test/manual-clock.ts'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { serveHealth } from './health-server.ts'
import type { LogEntry } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createRuntime } from './runtime.ts'

const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
const election = { namespace: 'stackloom-system', name: 'operator', identity: 'one' }

function configMap(name: string): KubeObject {
  return { ...kind, metadata: { name, namespace: 'openstack' } }
}

describe('the runtime', () => {
  it('shares one cache per source, read with one list', async () => {
    const { client, requests } = memoryCluster()
    await client.create(configMap('a'))
    const clock = manualClock()
    const runtime = createRuntime({ client, clock, freeze: true })
    const cache = runtime.cache({ kind }, { initial: (object) => [object.metadata.name.slice(0, 1)] })
    const seen: unknown[] = []
    for (const name of ['first', 'second']) {
      const reconcile = async (): Promise<void> => void seen.push([name, cache.byIndex('initial', 'a').length])
      runtime.add({ name, watches: [{ kind, map: () => ['all'] }], reconcile })
    }
    const control = new AbortController()
    const running = runtime.run(control.signal)
    await settled()
    expect(seen).toEqual([
      ['first', 1],
      ['second', 1],
    ])
    expect(requests.filter((request) => request.startsWith('list'))).toEqual(['list ConfigMap'])
    control.abort()
    expect(await running).toBe('stopped')
    expect(clock.waiting()).toEqual([])
  })

  it('starts a cache that is requested while it runs', async () => {
    const { client } = memoryCluster()
    const runtime = createRuntime({ client, clock: manualClock() })
    const control = new AbortController()
    const running = runtime.run(control.signal)
    const late = runtime.cache({ kind: { apiVersion: 'v1', kind: 'Secret' } })
    await settled()
    expect(late.hasSynced()).toBe(true)
    control.abort()
    await running
  })

  it('works on one replica only, keeps the other warm, and hands over at once at a stop', async () => {
    const { client } = memoryCluster()
    await client.create(configMap('a'))
    const clock = manualClock()
    const reconciled: string[] = []
    const replica = (identity: string) => {
      const runtime = createRuntime({ client, clock, election: { ...election, identity } })
      runtime.add({
        name: 'test',
        watches: [{ kind }],
        reconcile: async (request) => void reconciled.push(`${identity} ${objectKey(request)}`),
      })
      const control = new AbortController()
      const running = runtime.run(control.signal)
      return { runtime, control, running }
    }
    const first = replica('one')
    await clock.settle(100)
    const second = replica('two')
    await clock.settle(10_000)
    expect(reconciled).toEqual(['one openstack/a'])
    expect([first.runtime.isLeader(), second.runtime.isLeader()]).toEqual([true, false])
    expect(second.runtime.ready().every(({ problem }) => problem === undefined)).toBe(true)
    await expect(second.runtime.client.create(configMap('b'))).rejects.toThrow('SL1151')

    first.control.abort()
    expect(await first.running).toBe('stopped')
    await clock.settle(3_000)
    expect(reconciled).toEqual(['one openstack/a', 'two openstack/a'])
    second.control.abort()
    await second.running
  })

  it('does not wait forever for a controller that does not end', async () => {
    const { client } = memoryCluster()
    await client.create(configMap('a'))
    const clock = manualClock()
    const entries: LogEntry[] = []
    const runtime = createRuntime({ client, clock, graceMs: 1_000, log: (entry) => entries.push(entry) })
    runtime.add({ name: 'stuck', watches: [{ kind }], reconcile: () => new Promise(() => {}) })
    const control = new AbortController()
    const running = runtime.run(control.signal)
    await settled()
    control.abort()
    await clock.settle(1_000)
    await running
    expect(entries.at(-1)).toMatchObject({ code: 'SL1153' })
  })

  it('is ready when its caches have synced, and not when they are stale', async () => {
    const { client, reachable } = memoryCluster()
    reachable(false)
    const clock = manualClock()
    const runtime = createRuntime({ client, clock, staleMs: 60_000 })
    runtime.cache({ kind, namespace: 'openstack' })
    const control = new AbortController()
    const running = runtime.run(control.signal)
    await settled()
    expect(runtime.ready()[0]).toMatchObject({ name: 'ConfigMap openstack' })
    expect(runtime.ready()[0]?.problem).toMatch(/^not read yet: .*connection refused/)
    reachable(true)
    await clock.settle(5_000)
    expect(runtime.ready()).toEqual([{ name: 'ConfigMap openstack', problem: undefined }])
    reachable(false)
    await clock.settle(30_000)
    expect(runtime.ready()[0]?.problem).toBeUndefined()
    await clock.settle(60_000)
    expect(runtime.ready()[0]?.problem).toMatch(/^not refreshed for \d+ s/)
    control.abort()
    await running
  })
})

describe('the health server', () => {
  it('serves liveness, readiness with reasons, and metrics', async () => {
    const { client } = memoryCluster()
    await client.create(configMap('a'))
    const clock = manualClock()
    const metrics = createMetrics({ clock, process: true })
    const runtime = createRuntime({ client, clock, metrics, election })
    let failures = 1
    runtime.add({
      name: 'ipset',
      watches: [{ kind }],
      workers: 3,
      reconcile: async () => {
        failures -= 1
        if (failures >= 0) throw new Error('once')
        return { requeueAfterMs: 60_000 }
      },
    })
    const control = new AbortController()
    const ready = (): ReturnType<typeof runtime.ready> => runtime.ready()
    const health = await serveHealth({ host: '127.0.0.1', port: 0, ready, metrics }, control.signal)
    const page = async (path: string): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`http://127.0.0.1:${health.port}${path}`)
      return { status: answer.status, text: await answer.text() }
    }
    expect(await page('/healthz')).toEqual({ status: 200, text: 'ok\n' })
    expect(await page('/readyz')).toEqual({ status: 503, text: '[-] ConfigMap: not read yet\nnot ready\n' })
    expect((await page('/nothing')).status).toBe(404)

    const running = runtime.run(control.signal)
    await clock.settle(2_000)
    expect(await page('/readyz?verbose')).toEqual({ status: 200, text: '[+] ConfigMap\nready\n' })
    const { text } = await page('/metrics')
    for (const line of [
      'controller_runtime_reconcile_total{controller="ipset",result="error"} 1',
      'controller_runtime_reconcile_total{controller="ipset",result="requeue_after"} 1',
      'controller_runtime_reconcile_total{controller="ipset",result="success"} 0',
      'controller_runtime_reconcile_errors_total{controller="ipset"} 1',
      'controller_runtime_reconcile_time_seconds_count{controller="ipset"} 2',
      'controller_runtime_max_concurrent_reconciles{controller="ipset"} 3',
      'controller_runtime_active_workers{controller="ipset"} 0',
      'workqueue_adds_total{name="ipset",controller="ipset"} 2',
      'workqueue_depth{name="ipset",controller="ipset"} 0',
      'workqueue_retries_total{name="ipset",controller="ipset"} 1',
      'workqueue_queue_duration_seconds_count{name="ipset",controller="ipset"} 2',
      'workqueue_work_duration_seconds_count{name="ipset",controller="ipset"} 2',
      'workqueue_unfinished_work_seconds{name="ipset",controller="ipset"} 0',
      'workqueue_longest_running_processor_seconds{name="ipset",controller="ipset"} 0',
      'reflector_lists_total{name="ConfigMap"} 1',
      'reflector_watches_total{name="ConfigMap"} 1',
      'leader_election_master_status{name="operator"} 1',
    ]) {
      expect(text).toContain(`${line}\n`)
    }
    expect(text).toContain('reflector_last_event_age_seconds{name="ConfigMap"}')
    expect(text).toContain('nodejs_eventloop_lag_seconds')
    control.abort()
    await Promise.all([running, health.stopped])
  })

  it('reports a port that is in use', async () => {
    const control = new AbortController()
    const place = { host: '127.0.0.1', port: 0, ready: () => [] }
    const first = await serveHealth(place, control.signal)
    const second = serveHealth({ ...place, port: first.port }, control.signal)
    await expect(second).rejects.toThrow(
      `SL1152: cannot serve health on 127.0.0.1:${first.port}: address already in use`,
    )
    control.abort()
    await first.stopped
  })
})
