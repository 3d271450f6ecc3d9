/** The console of two clouds in a sandbox: a run of a terminal, a change, a lost API server, a dump, a caller without rights. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import type { FindingsDocument } from '../../../src/console/documents/findings.ts'
import type { MetaDocument } from '../../../src/console/documents/meta.ts'
import type { OverviewDocument } from '../../../src/console/documents/overview.ts'
import type { RunDocument, RunsDocument } from '../../../src/console/documents/runs.ts'
import { schemas } from '../../../src/console/documents/schemas.ts'
import { documentNames, fillRoute, routes } from '../../../src/console/routes.ts'
import { useCluster } from '../../cluster.ts'
import { type ConsoleClient, connectConsole } from '../../console-client.ts'
import { requireSoak } from '../../counts.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { prepareCluster, type RunningActors, startActors } from '../deploy/deployment-fixture.ts'

const LIMIT = 180_000

const site = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: seen}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack}
  - {name: rhoso2, namespace: openstack2}
`

describe('the console of two clouds', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  const folder = useFolder()
  const stop = new AbortController()
  let cast: RunningActors | undefined
  let running: Promise<number> | undefined
  let client: ConsoleClient

  const ioFor = (signal?: AbortSignal) =>
    testIo({ cwd: folder, env: { HOME: folder, NO_COLOR: '1' }, ...(signal && { stop: signal }) })

  const start = async (signal: AbortSignal, ...words: readonly string[]) => {
    const io = ioFor(signal)
    const ended = main(['console', ...words], io)
    await vi.waitUntil(() => io.out().includes('token='), { timeout: LIMIT })
    return { ended, client: await connectConsole(io.out().trim()) }
  }

  beforeAll(async () => {
    writeFileSync(path.join(folder, 'site.yaml'), site)
    await prepareCluster(cluster.client, ['worker-0'])
    cast = startActors(cluster.connection)
    const started = await start(stop.signal, '--kubeconfig', cluster.kubeconfig)
    running = started.ended
    client = started.client
  }, 600_000)
  afterAll(async () => {
    client?.close()
    stop.abort()
    await running
    await cast?.stop()
  })

  it('calls the clouds planned before they are deployed', async () => {
    await vi.waitUntil(async () => (await client.get<MetaDocument>(routes.meta)).connection.kind === 'connected', {
      timeout: LIMIT,
    })
    const { clouds } = await client.get<OverviewDocument>(routes.overview)
    expect(clouds.map(({ state }) => state)).toEqual(['planned', 'planned'])
  })

  it('shows a run of a terminal from begin to end', async () => {
    const io = ioFor()
    const code = await main(['up', '--yes', '--events', 'lines', '--kubeconfig', cluster.kubeconfig], io)
    expect(code, io.err().slice(-3_000)).toBe(0)
    await client.waitFor((event) => event.kind === 'run' && event.events.some(({ kind }) => kind === 'run-finished'))
    const events = client.seen().flatMap((event) => (event.kind === 'run' ? event.events : []))
    expect(events[0]?.kind).toBe('run-started')
    const { runs } = await client.get<RunsDocument>(routes.runs)
    expect(runs[0]).toMatchObject({ state: 'done', source: 'live', what: 'up site.yaml' })
    const document = await client.get<RunDocument>(fillRoute('run', { run: runs[0]?.id ?? '' }))
    expect(schemas.run.safeParse(document).error).toBeUndefined()
    expect(document.stages.every(({ state }) => state === 'done' || state === 'skipped')).toBe(true)
    expect(document.events).toBe(events.length)
    const [first] = document.stages
    const stage = await client.get(fillRoute('stage', { run: runs[0]?.id ?? '', stage: first?.id ?? '' }))
    expect(schemas.stage.safeParse(stage).error).toBeUndefined()
  })

  it('has every document with its schema, and both clouds ready', async () => {
    await vi.waitUntil(
      async () => {
        const { clouds } = await client.get<OverviewDocument>(routes.overview)
        return clouds.length >= 3 && clouds.every(({ state }) => state === 'ready')
      },
      { timeout: LIMIT, interval: 500 },
    )
    for (const name of documentNames) {
      if (name === 'lab') continue
      expect(schemas[name].safeParse(await client.get(routes[name])).error, name).toBeUndefined()
    }
    await vi.waitUntil(async () => (await client.get<FindingsDocument>(routes.findings)).checked.doctor !== undefined, {
      timeout: LIMIT,
      interval: 500,
    })
    const { checked } = await client.get<FindingsDocument>(routes.findings)
    expect(checked.verify?.total).toBeGreaterThan(20)
  })

  it('keeps patched documents equal to fresh ones', async () => {
    const before = await client.get<OverviewDocument & { version: number }>(routes.overview)
    const from = client.seen().length
    await cluster.client.patch(
      { apiVersion: 'v1', kind: 'Service', namespace: 'openstack', name: 'keystone-internal' },
      { metadata: { annotations: { 'metallb.io/loadBalancerIPs': '172.17.0.89' } } },
      { type: 'merge', fieldManager: 'a-hand' },
    )
    // From here on: the run before has brought patches, too.
    await client.waitFor((event) => event.kind === 'patch' && event.document === 'overview', from)
    const lines = ({ clouds }: OverviewDocument) => clouds.map(({ id, state }) => `${id} ${state}`)
    const isEqual = async () => {
      const fresh = await client.get<OverviewDocument>(routes.overview)
      return lines(client.patched('overview', before)).join() === lines(fresh).join()
    }
    await expect.poll(isEqual, { timeout: LIMIT, interval: 200 }).toBe(true)
  })

  it('answers a search as `stackloom ip --live` does', async () => {
    const io = ioFor()
    await main(['ip', '172.17.0.80', '--live', '--kubeconfig', cluster.kubeconfig, '-o', 'json'], io)
    const expected = JSON.parse(io.out()) as { answers: object[]; live: object[] }
    const found = await client.get<{ answers: object[]; live: object[] }>('/api/search?q=172.17.0.80')
    expect(found.answers).toMatchObject(expected.answers)
    expect(found.live).toEqual(expected.live)
  })

  // In `make test` the browser sees both in console.test.ts.
  it('says that the API server is lost, and continues when it is back', async (context) => {
    requireSoak(context)
    const mark = client.seen().length
    await cluster.kill('kube-apiserver')
    const isConnection = (kind: string) => (event: { kind: string; connection?: { kind: string } }) =>
      event.kind === 'connection' && event.connection?.kind === kind
    await client.waitFor(isConnection('lost'), mark)
    const { notes, clouds } = await client.get<OverviewDocument>(routes.overview)
    expect(notes.map(({ kind }) => kind)).toContain('lost')
    expect(clouds.length).toBeGreaterThanOrEqual(3)
    await cluster.start('kube-apiserver')
    await client.waitFor(isConnection('connected'), mark)
    const next = client.seen().length
    await cluster.client.delete({
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'openstack2',
      name: 'keystone-internal',
    })
    await client.waitFor((event) => event.kind === 'patch' && event.document === 'overview', next)
  })

  it('shows the same from a dump, without a cluster', async (context) => {
    requireSoak(context)
    const saved = await main(['doctor', '--save', 'dump', '--kubeconfig', cluster.kubeconfig], ioFor())
    expect([0, 1, 3]).toContain(saved)
    const end = new AbortController()
    const started = await start(end.signal, '--from', 'dump')
    const { clouds } = await started.client.get<OverviewDocument>(routes.overview)
    expect(clouds.map(({ id }) => id)).toContain('rhoso2')
    expect((await started.client.get<MetaDocument>(routes.meta)).source).toEqual({ kind: 'dump', folder: 'dump' })
    started.client.close()
    end.abort()
    expect(await started.ended).toBe(0)
  })
})
