/** `stackloom console` as a program of its own, for a browser and a client: two clouds of a sandbox from the first plan until they are gone. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import type { FindingsDocument } from '../../../src/console/documents/findings.ts'
import type { MetaDocument } from '../../../src/console/documents/meta.ts'
import type { OverviewDocument } from '../../../src/console/documents/overview.ts'
import type { RunDocument, RunsDocument } from '../../../src/console/documents/runs.ts'
import { schemas } from '../../../src/console/documents/schemas.ts'
import type { StreamEvent } from '../../../src/console/documents/stream.ts'
import { documentNames, fillRoute, routes } from '../../../src/console/routes.ts'
import { startProcess } from '../../../src/exec/process.ts'
import { buildWeb } from '../../../tools/build-web.ts'
import { expectNoSidewaysScroll, findViolations, requireBrowser, useBrowser } from '../../browser.ts'
import { useCluster } from '../../cluster.ts'
import { type ConsoleClient, connectConsole } from '../../console-client.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { prepareCluster, type RunningActors, startActors } from '../deploy/deployment-fixture.ts'
import { freePorts, launchOperator } from '../ipam/operator.ts'

const LIMIT = 240_000
const openPage = useBrowser()
const folder = useFolder()
const env = { HOME: folder, XDG_STATE_HOME: path.join(folder, 'state'), PATH: process.env['PATH'] ?? '' }

interface RunningConsole {
  /** A link that was not used yet. */
  readonly link: () => Promise<string>
  readonly stop: () => Promise<void>
}

/** A process of its own: actions of the page start the same program again. */
async function startConsole(words: readonly string[], cwd = folder): Promise<RunningConsole> {
  const lines: string[] = []
  const end = new AbortController()
  // The built program of `make test` starts in a quarter of the time, and each action of the page starts it again.
  const [file = '', ...args] = sandboxContext().self
  const running = startProcess(
    { file, args: [...args, 'console', ...words], cwd, env },
    { onLine: (line) => lines.push(line), signal: end.signal, graceMs: 30_000 },
  )
  const links = (): readonly string[] => lines.join('\n').match(/http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/g) ?? []
  let used = 0
  await Promise.race([running.exit, vi.waitUntil(() => links().length > 0, { timeout: LIMIT })])
  if (links().length === 0) throw new Error(lines.join('\n'))
  return {
    link: async () => {
      await vi.waitUntil(() => links().length > used, { timeout: LIMIT })
      used += 1
      return links()[used - 1] ?? ''
    },
    stop: async () => {
      end.abort()
      await running.exit
    },
  }
}

/** Opens a view of a page that has a session, without loading it again. */
async function showView(page: Page, hash: string, ready: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await page.waitForSelector(ready)
}

/** Every view of the deployed clouds, and what it has when it is complete. */
const views: readonly (readonly [hash: string, ready: string])[] = [
  ['#/overview', 'table >> text="rhoso2"'],
  ['#/addresses', '.bars'],
  ['#/addresses?cloud=rhoso1&network=internalapi', 'td >> text=/Service openstack\\/rabbitmq/'],
  ['#/topology?selected=segment%3Amain%2F20', '.item.lit'],
  ['#/run', '.grid'],
  ['#/run?layout=timeline', '.timeline'],
  ['#/run?layout=graph', '.graph'],
  ['#/hosts', '.matrix >> text="edpm-compute-[0-1]"'],
  ['#/findings', 'summary:has-text("checks of the cluster")'],
  ['#/lab', 'h2 >> text="Virtual machines"'],
  ['#/search?q=172.17.0.85', 'td >> text=/openstack/'],
]

beforeAll(async () => {
  // The example names a storage class that the sandbox does not have.
  const example = readFileSync('examples/two-clouds.yaml', 'utf8')
  writeFileSync(path.join(folder, 'site.yaml'), example.replace('local-storage', 'local'))
  copyFileSync('examples/lab-three-node.yaml', path.join(folder, 'lab.yaml'))
  // What `make build` writes; the console reads it from there.
  if (!process.env['STACKLOOM_TEST_BUILT']) await buildWeb('dist/web')
})
beforeEach(requireBrowser)

describe('the console of two clouds and a sandbox', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let actors: RunningActors | undefined
  let running: RunningConsole | undefined
  let client: ConsoleClient
  let page: Page
  let errors: readonly string[] = []

  beforeAll(async () => {
    await prepareCluster(cluster.client, ['worker-0', 'worker-1', 'worker-2'])
    actors = startActors(cluster.connection)
    const words = ['-f', 'site.yaml', '--lab', 'lab.yaml', '--kubeconfig', cluster.kubeconfig]
    running = await startConsole([...words, '--allow-actions'])
    client = await connectConsole(await running.link())
  }, 600_000)
  afterAll(async () => {
    client?.close()
    await running?.stop()
    await actors?.stop()
  })

  const openConsole = async (): Promise<void> => {
    ;({ page, errors } = await openPage())
    page.setDefaultTimeout(LIMIT)
    await page.goto((await running?.link()) ?? '')
    await page.waitForSelector('main h1')
  }
  const chooseAction = (value: string) => page.getByLabel('Start an action').selectOption(value)
  const runCommand = async (...words: readonly string[]): Promise<{ readonly code: number; readonly out: string }> => {
    const io = testIo({ cwd: folder, env })
    const code = await main([...words, '-f', 'site.yaml', '--kubeconfig', cluster.kubeconfig], io)
    return { code, out: code === 0 ? io.out() : `${io.out()}${io.err().slice(-3_000)}` }
  }
  const dialogState = (state: string) => page.waitForSelector(`dialog[open] h2:has-text("${state}")`)

  it('asks before `up`, and shows the run that the page started from begin to end', async () => {
    await openConsole()
    await page.waitForSelector('td >> text="planned"')
    await chooseAction('up')
    await dialogState('asks')
    expect(await page.locator('dialog .output').innerText()).toContain('controlplane')
    expect(await cluster.client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'openstack' })).toBeUndefined()
    await page.getByRole('button', { name: 'Run up' }).click()
    await page.getByText('Watch the run').click()
    await page.waitForSelector('.stage.running')
    await page.waitForSelector('.run-state >> text="done"')
    const stages = await page.locator('.stage .mark').allInnerTexts()
    expect(stages.length).toBeGreaterThan(15)
    expect(stages.filter((state) => state !== 'done' && state !== 'skipped')).toEqual([])
    expect(await page.locator('.log').innerText()).toContain('done after')
    expect(errors).toEqual([])
  })

  it('shows a run of a terminal from begin to end', async () => {
    const earlier = (await client.get<RunsDocument>(routes.runs)).runs.map(({ id }) => id)
    const { code, out } = await runCommand('up', '--yes', '--events', 'lines')
    expect(code, out).toBe(0)
    // The last events of the run before may arrive now.
    const eventsOf = (event: StreamEvent) => (event.kind === 'run' && !earlier.includes(event.run) ? event.events : [])
    await client.waitFor((event) => eventsOf(event).some(({ kind }) => kind === 'run-finished'))
    const events = client.seen().flatMap(eventsOf)
    expect(events[0]?.kind).toBe('run-started')
    // The list of runs follows its events by a patch.
    const run = await vi.waitFor(async () => {
      const { runs } = await client.get<RunsDocument>(routes.runs)
      expect(runs[0]).toMatchObject({ state: 'done', source: 'live', what: 'up site.yaml' })
      return runs[0]
    }, 30_000)
    const document = await client.get<RunDocument>(fillRoute('run', { run: run?.id ?? '' }))
    expect(schemas.run.safeParse(document).error).toBeUndefined()
    expect(document.stages.length).toBeGreaterThan(15)
    expect(document.stages.every(({ state }) => state === 'done' || state === 'skipped')).toBe(true)
    expect(document.events).toBe(events.length)
    const stage = await client.get(fillRoute('stage', { run: run?.id ?? '', stage: document.stages[0]?.id ?? '' }))
    expect(schemas.stage.safeParse(stage).error).toBeUndefined()
  })

  it('has every document with its schema, and both clouds ready', async () => {
    const areReady = async (): Promise<boolean> => {
      const { clouds } = await client.get<OverviewDocument>(routes.overview)
      return clouds.length >= 3 && clouds.every(({ state }) => state === 'ready')
    }
    await vi.waitUntil(areReady, { timeout: LIMIT, interval: 500 })
    const isExamined = async (): Promise<boolean> =>
      (await client.get<FindingsDocument>(routes.findings)).checked.doctor !== undefined
    await vi.waitUntil(isExamined, { timeout: LIMIT, interval: 500 })
    for (const name of documentNames)
      expect(schemas[name].safeParse(await client.get(routes[name])).error, name).toBeUndefined()
    const { checked } = await client.get<FindingsDocument>(routes.findings)
    expect(checked.verify?.total).toBeGreaterThan(20)
  })

  it('answers a search as `stackloom ip --live` does', async () => {
    const { out } = await runCommand('ip', '172.17.0.80', '--live', '-o', 'json')
    const expected = JSON.parse(out) as { answers: object[]; live: object[] }
    const found = await client.get<{ answers: object[]; live: object[] }>('/api/search?q=172.17.0.80')
    expect(expected.live.length).toBeGreaterThan(0)
    expect(found.answers).toMatchObject(expected.answers)
    expect(found.live).toEqual(expected.live)
  })

  it('has every view of the deployed clouds, at three widths, without a violation or an error', async () => {
    await openConsole()
    await showView(page, '#/overview', 'table >> text="rhoso1"')
    await page.waitForFunction("document.querySelectorAll('tbody .mark.good').length >= 4")
    for (const [hash, ready] of views) {
      await showView(page, hash, ready)
      for (const width of [375, 2560, 1280]) {
        await page.setViewportSize({ width, height: 860 })
        await expectNoSidewaysScroll(page)
      }
      expect(await findViolations(page), hash).toEqual([])
      expect(await page.locator('.head .command code').first().innerText(), hash).toMatch(/^stackloom /)
    }
    expect(errors).toEqual([])
  })

  it('runs plan, verify, doctor and diff, and prints what a terminal prints', async () => {
    await openConsole()
    const inCluster = ['--kubeconfig', cluster.kubeconfig]
    for (const name of ['plan', 'verify', 'doctor', 'diff']) {
      await chooseAction(name)
      await page.waitForSelector('dialog[open] h2 .mark:not(.busy)')
      // Without a terminal a table is as wide as its values.
      const io = testIo({ cwd: folder, env, columns: Number.POSITIVE_INFINITY })
      const words = [name, '-f', 'site.yaml', ...(name === 'plan' ? [] : inCluster)]
      const code = await main(words, io)
      expect(await page.locator('dialog[open] .command code').innerText()).toBe(`stackloom ${words.join(' ')}`)
      expect(await page.locator('dialog[open] h2').innerText()).toContain(code === 0 ? 'done' : 'failed')
      const output = await page.locator('dialog[open] .output').textContent()
      for (const line of io.out().trim().split('\n').slice(0, 5)) expect(output).toContain(line.trim().slice(0, 40))
      await page.getByRole('button', { name: 'Close' }).click()
    }
    expect(errors).toEqual([])
  })

  it('shows a change in two browsers at once', async () => {
    await openConsole()
    const first = page
    await openConsole()
    await showView(first, '#/addresses?cloud=rhoso1&network=internalapi', '.zoom')
    await showView(page, '#/addresses?cloud=rhoso1&network=internalapi', '.zoom')
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    await cluster.client.create(shop)
    const service = { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web' }
    // Another load balancer's Service, so that MetalLB leaves its status alone.
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/other', ports: [{ port: 80 }] },
    })
    const status = { status: { loadBalancer: { ingress: [{ ip: '172.17.0.88' }] } } }
    await cluster.client.patch(service, status, { type: 'merge', fieldManager: 'other', subresource: 'status' })
    for (const browser of [first, page]) await browser.waitForSelector('td >> text=/shop\\/web/')
    expect(errors).toEqual([])
  })

  it('shows what is broken: a deleted pool, a VIP that moved, a node that is gone; patches equal fresh documents', async () => {
    await openConsole()
    await showView(page, '#/overview', 'table >> text="rhoso2"')
    const before = await client.get<OverviewDocument & { version: number }>(routes.overview)
    const from = client.seen().length
    const pool = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', namespace: 'metallb-system' }
    await cluster.client.delete({ ...pool, name: 'openstack2-internalapi' })
    await page.waitForSelector('.attention >> text=/openstack2-internalapi/')
    await client.waitFor((event) => event.kind === 'patch' && event.document === 'overview', from)
    const lines = ({ clouds }: OverviewDocument) => clouds.map(({ id, state, reason }) => `${id} ${state} ${reason}`)
    const isEqual = async (): Promise<boolean> => {
      const fresh = await client.get<OverviewDocument>(routes.overview)
      return lines(client.patched('overview', before)).join() === lines(fresh).join()
    }
    await expect.poll(isEqual, { timeout: LIMIT, interval: 200 }).toBe(true)
    const moved = { status: { loadBalancer: { ingress: [{ ip: '172.17.0.89' }] } } }
    const keystone = { apiVersion: 'v1', kind: 'Service', namespace: 'openstack', name: 'keystone-internal' }
    await actors?.stop()
    await cluster.kill('metallb-controller')
    await cluster.client.patch(keystone, moved, { type: 'merge', fieldManager: 'other', subresource: 'status' })
    await showView(page, '#/addresses?cloud=rhoso1&network=internalapi&mode=difference', 'td >> text="172.17.0.89"')
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Node', name: 'worker-2' })
    await showView(page, '#/topology?selected=node%3Aworker-2', 'text="the cluster has no such node"')
    await cluster.start('metallb-controller')
    await prepareCluster(cluster.client, ['worker-2'])
    actors = startActors(cluster.connection)
    expect(errors).toEqual([])
  })

  it('says that the API server is lost, keeps its values in every view, and continues by itself', async () => {
    await openConsole()
    await showView(page, '#/overview', 'table >> text="rhoso1"')
    const from = client.seen().length
    const isConnection = (kind: string) => (event: StreamEvent) =>
      event.kind === 'connection' && event.connection.kind === kind
    await cluster.kill('kube-apiserver')
    expect(await page.getByRole('alert').innerText()).toContain('does not answer')
    await client.waitFor(isConnection('lost'), from)
    const { notes, clouds } = await client.get<OverviewDocument>(routes.overview)
    expect(notes.map(({ kind }) => kind)).toContain('lost')
    expect(clouds.length).toBeGreaterThanOrEqual(3)
    for (const [hash, ready] of views) await showView(page, hash, ready)
    await cluster.start('kube-apiserver')
    await page.getByRole('alert').waitFor({ state: 'detached', timeout: 300_000 })
    await client.waitFor(isConnection('connected'), from)
    await showView(page, '#/addresses?cloud=rhoso1&network=internalapi', 'td >> text=/shop\\/web/')
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web' })
    await page.waitForSelector('td >> text=/shop\\/web/', { state: 'detached' })
    expect(errors).toEqual([])
  })

  it('shows the clouds without a site file', async () => {
    const other = path.join(folder, 'other')
    mkdirSync(other)
    const alone = await startConsole(['--kubeconfig', cluster.kubeconfig], other)
    onTestFinished(alone.stop)
    const opened = await openPage()
    await opened.page.goto(await alone.link())
    await opened.page.waitForSelector('table >> text="rhoso2"')
    await showView(opened.page, '#/hosts', '.matrix >> text="edpm-compute-[0-1]"')
    await showView(opened.page, '#/findings', 'main h1 >> text="Findings"')
    for (const view of ['addresses', 'topology']) await showView(opened.page, `#/${view}`, '.empty:not([role=status])')
    expect(opened.errors).toEqual([])
  })

  it('shows a dump as the cluster was', async () => {
    const io = testIo({ cwd: folder, env })
    await main(['doctor', '--save', 'dump', '--kubeconfig', cluster.kubeconfig], io)
    const dumped = await startConsole(['-f', 'site.yaml', '--from', 'dump'])
    onTestFinished(dumped.stop)
    const opened = await openPage()
    await opened.page.goto(await dumped.link())
    await opened.page.waitForSelector('table >> text="rhoso2"')
    await opened.page.waitForSelector('.top >> text=/dump/')
    expect(opened.errors).toEqual([])
    const reader = await connectConsole(await dumped.link())
    onTestFinished(reader.close)
    expect((await reader.get<MetaDocument>(routes.meta)).source).toEqual({ kind: 'dump', folder: 'dump' })
  })

  it('ends an operator with a console whose kinds the cluster does not serve, with the reason', async () => {
    const [consolePort = 0] = await freePorts(1)
    const operator = await launchOperator(cluster, { console: true, consolePort, parts: ['ipam'] })
    await expect.poll(() => String(operator.ended()), { timeout: LIMIT }).toContain('SL5101')
  })

  it('takes the clouds down after their name is typed', async () => {
    await openConsole()
    await chooseAction('down')
    await dialogState('asks')
    const button = page.getByRole('button', { name: 'Run down' })
    expect(await button.isDisabled()).toBe(true)
    await page.getByLabel('Type all to confirm').fill('all')
    await button.click()
    await dialogState('done')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.waitForFunction(
      "[...document.querySelectorAll('tbody tr')].filter((row) => row.textContent.includes('planned')).length === 2",
    )
    expect(errors).toEqual([])
  })
})

describe('the console without a cluster', { timeout: 300_000 }, () => {
  it('shows the plan, says what the other views need, and is opened by links of other sites', async () => {
    const alone = await startConsole(['-f', 'site.yaml'])
    onTestFinished(alone.stop)
    const { page, errors } = await openPage()
    await page.goto(await alone.link())
    await page.waitForSelector('table >> text="rhoso2"')
    await page.waitForSelector('.top >> text="plan only"')
    await showView(page, '#/search?q=172.17.0.85', '.answer')
    expect(await page.locator('main').innerText()).toContain('rabbitmq.rabbitmq')
    for (const view of ['hosts', 'lab']) await showView(page, `#/${view}`, '.empty:not([role=status])')
    expect(errors).toEqual([])
    // A link in a chat or a wiki, which is a page of another site.
    const { origin } = new URL(page.url())
    await page.route('http://wiki.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${origin}/#/search?q=172.17.0.85">look</a>` }),
    )
    await page.goto('http://wiki.example/')
    await page.click('a')
    await page.waitForSelector('.answer')
    // And the link of the program itself, followed from such a page.
    await page.goto('http://wiki.example/')
    await page.evaluate(`location.href = ${JSON.stringify(`${await alone.link()}#/addresses`)}`)
    await page.waitForSelector('.bars')
    // And from a file, as `--open` does it.
    const opener = path.join(folder, 'open.html')
    writeFileSync(opener, `<meta http-equiv="refresh" content="0; url=${await alone.link()}">`)
    await page.goto('about:blank')
    await page.context().clearCookies()
    await page.goto(`file://${opener}`)
    await page.waitForSelector('table >> text="rhoso2"')
    expect(errors).toEqual([])
  })
})
