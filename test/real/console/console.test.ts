/** `stackloom console` in a browser, with its own server: a sandbox, a dump, and a plan without a cluster. */
import { copyFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { buildWeb } from '../../../tools/build-web.ts'
import { requireBrowser, useBrowser } from '../../browser.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { prepareCluster, type RunningActors, startActors } from '../deploy/deployment-fixture.ts'

const openPage = useBrowser()
const folder = useFolder()
const env = { HOME: folder, XDG_STATE_HOME: path.join(folder, 'state') }

interface RunningConsole {
  /** A link that was not used yet. */
  readonly link: () => Promise<string>
  readonly stop: () => Promise<void>
}

async function startConsole(...words: readonly string[]): Promise<RunningConsole> {
  const end = new AbortController()
  const io = testIo({ cwd: folder, env, stop: end.signal })
  const running = main(['console', ...words], io)
  const links = (): readonly string[] => `${io.out()}${io.err()}`.match(/http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/g) ?? []
  let used = 0
  await Promise.race([running, vi.waitUntil(() => links().length > 0, { timeout: 120_000 })])
  if (links().length === 0) throw new Error(io.err())
  return {
    link: async () => {
      await vi.waitUntil(() => links().length > used, { timeout: 60_000 })
      used += 1
      return links()[used - 1] ?? ''
    },
    stop: async () => {
      end.abort()
      await running
    },
  }
}

/** Opens a view of a page that has a session, without loading it again. */
async function showView(page: Page, hash: string, ready: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await page.waitForSelector(ready)
}

beforeAll(async () => {
  copyFileSync('examples/two-clouds.yaml', path.join(folder, 'site.yaml'))
  // What `make build` writes; the console reads it from there.
  await buildWeb('dist/web')
})
beforeEach(requireBrowser)

describe('the console of two clouds and a sandbox', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let actors: RunningActors | undefined
  let running: RunningConsole | undefined
  let page: Page
  let errors: readonly string[] = []

  beforeAll(async () => {
    await prepareCluster(cluster.client, ['worker-0', 'worker-1', 'worker-2'])
    actors = startActors(cluster.connection)
    running = await startConsole('-f', 'site.yaml', '--kubeconfig', cluster.kubeconfig)
  }, 600_000)
  afterAll(async () => {
    await running?.stop()
    await actors?.stop()
  })

  const openConsole = async (): Promise<void> => {
    ;({ page, errors } = await openPage())
    await page.goto((await running?.link()) ?? '')
    await page.waitForSelector('main h1')
  }

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

  it('says that the API server is lost, keeps its values, and continues by itself', async () => {
    await openConsole()
    await showView(page, '#/overview', 'table >> text="rhoso1"')
    await cluster.kill('kube-apiserver')
    expect(await page.getByRole('alert').innerText()).toContain('does not answer')
    expect(await page.locator('table >> text="rhoso1"').count()).toBe(1)
    await cluster.start('kube-apiserver')
    await page.getByRole('alert').waitFor({ state: 'detached', timeout: 300_000 })
  })

  it('shows a dump as the cluster was', async () => {
    const io = testIo({ cwd: folder, env })
    await main(['doctor', '--save', 'dump', '--kubeconfig', cluster.kubeconfig], io)
    const dumped = await startConsole('-f', 'site.yaml', '--from', 'dump')
    onTestFinished(dumped.stop)
    const opened = await openPage()
    await opened.page.goto(await dumped.link())
    await opened.page.waitForSelector('table >> text="rhoso2"')
    expect(await opened.page.locator('.top').innerText()).toContain('dump')
    expect(opened.errors).toEqual([])
  })
})

describe('the console without a cluster', { timeout: 300_000 }, () => {
  it('shows the plan, and says what the other views need', async () => {
    const alone = await startConsole('-f', 'site.yaml')
    onTestFinished(alone.stop)
    const { page, errors } = await openPage()
    await page.goto(await alone.link())
    await page.waitForSelector('table >> text="rhoso2"')
    expect(await page.locator('.top').innerText()).toContain('plan only')
    await showView(page, '#/search?q=172.17.0.85', '.answer')
    expect(await page.locator('main').innerText()).toContain('rabbitmq.rabbitmq')
    await showView(page, '#/hosts', '.empty')
    expect(errors).toEqual([])
  })
})
