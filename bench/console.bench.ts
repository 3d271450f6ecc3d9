/**
 * Measures the console of fifty clouds in a browser: the first useful paint, a change of the cluster on the screen, long
 * tasks while the address map is used, and the memory of the server. Each against the real alternative in the same run.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import type { KubeObject } from '../src/api/object.ts'
import { mapConcurrently } from '../src/async/map-concurrently.ts'
import { ensureSystemNamespace, writeInventory } from '../src/deploy/inventory.ts'
import { startProcess } from '../src/exec/process.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { emptyLock } from '../src/plan/lock.ts'
import type { Plan } from '../src/plan/plan.ts'
import { planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import { renderDocuments } from '../src/render/render.ts'
import { readSite } from '../src/site/read.ts'
import { BROWSER, launchBrowser } from '../test/browser.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { nodeNames, prepareCluster } from '../test/real/deploy/deployment-fixture.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { compare, median, once, runNode } from '../tools/measure.ts'

const CLOUDS = 50
const HOSTS = 250
const CHANGES = 15
const FRAME_MS = 1000 / 60
const LONG_TASK_MS = 50
const LIMIT = 300_000

interface ConsoleFigures {
  readonly paint: number
  readonly change: number
  readonly longTasks: number
  readonly memory: number
}

function writeSite(folder: string): Plan {
  const site = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'large' },
    spec: {
      cluster: {
        dns: ['192.168.122.1'],
        storageClass: 'local',
        nodes: [0, 1, 2].map((index) => ({ name: `worker-${index}`, nic: 'enp6s0' })),
      },
      // 250 hosts plus nodes, pods and VIPs do not fit in a /24.
      addressing: { prefixLength: { ipv4: 23 }, layout: { hosts: '100-400' } },
      clouds: Array.from({ length: CLOUDS }, (_, cloud) => ({
        name: `cloud${cloud}`,
        namespace: `openstack${cloud}`,
        hosts: Array.from({ length: HOSTS }, (_, host) => ({ name: `cloud${cloud}-compute-${host}` })),
      })),
    },
  }
  const file = path.join(folder, 'site.yaml')
  const text = JSON.stringify(site, undefined, 1)
  writeFileSync(file, text)
  const { site: read, findings, locate } = readSite(text, file)
  if (!read) throw new Error(JSON.stringify(findings))
  return planSite({ site: read, lock: emptyLock('large'), slots: builtInTable(), locate, findings }).plan
}

/** Everything that `up` applies, with its inventories, and the Services of the VIPs. */
async function furnish(client: KubeClient, plan: Plan): Promise<void> {
  await prepareCluster(client, nodeNames(plan))
  await ensureSystemNamespace(client)
  const documents = renderDocuments(plan).filter(({ object }) => !object.kind.startsWith('ValidatingAdmission'))
  const isNamespace = ({ kind }: KubeObject): boolean => kind === 'Namespace'
  const apply = (object: KubeObject) => client.apply(object, { fieldManager: 'bench' })
  const objects = documents.map(({ object }) => object)
  await mapConcurrently(objects.filter(isNamespace), 8, apply)
  await mapConcurrently(
    objects.filter((object) => !isNamespace(object)),
    8,
    apply,
  )
  await mapConcurrently([undefined, ...plan.clouds], 8, (cloud) =>
    writeInventory(client, {
      site: plan.site,
      ...(cloud && { cloud: cloud.name, namespace: cloud.namespace }),
      objects: documents
        .filter((document) => document.cloud === cloud?.name)
        .map(({ object: { apiVersion, kind, metadata } }) => ({
          apiVersion,
          kind,
          name: metadata.name,
          ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
        })),
    }),
  )
  const vips = plan.clouds.flatMap(({ namespace, networks }) =>
    networks.flatMap((network) => network.vips.map(({ slot, address }) => ({ namespace, slot, address }))),
  )
  await mapConcurrently(vips, 8, async ({ namespace, slot, address }) => {
    const name = slot.replaceAll('.', '-')
    const ref = { apiVersion: 'v1', kind: 'Service', namespace, name }
    const spec = { type: 'LoadBalancer', ports: [{ port: 443 }] }
    await client.create({ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec })
    await client.patch(ref, { status: { loadBalancer: { ingress: [{ ip: address }] } } }, statusPatch)
  })
}

const statusPatch = { type: 'merge', fieldManager: 'bench', subresource: 'status' } as const

interface RunningServer {
  readonly link: string
  readonly peakMiB: () => number
  readonly stop: () => Promise<void>
}

async function startServer(folder: string, options: readonly string[]): Promise<RunningServer> {
  const end = new AbortController()
  const env = { HOME: folder, PATH: process.env['PATH'] ?? '' }
  const args = [path.resolve('bin/stackloom'), 'console', ...options]
  const { promise, onLine } = waitForLink()
  const server = startProcess(
    { file: process.execPath, args, cwd: folder, env },
    { onLine, signal: end.signal, graceMs: 30_000 },
  )
  const ended = server.exit.then(() => Promise.reject(new Error('the console has ended')))
  ended.catch(() => undefined)
  return {
    link: await Promise.race([promise, ended]),
    peakMiB: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024,
    stop: async () => {
      end.abort()
      await server.exit
    },
  }
}

function waitForLink(): { readonly promise: Promise<string>; readonly onLine: (line: string) => void } {
  let resolveLink: (link: string) => void = () => undefined
  const promise = new Promise<string>((resolve) => {
    resolveLink = resolve
  })
  const onLine = (line: string): void => {
    const found = /http:\S+token=\S+/.exec(line)?.[0]
    if (found !== undefined) resolveLink(found)
  }
  return { promise, onLine }
}

/** Milliseconds from the start of the navigation to the frame in which the condition holds. */
async function timePaint(page: Page, url: string, condition: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'commit' })
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () => ${condition} ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look)
    look()
  })`)
}

/** When the text is on the screen, in milliseconds since the epoch. */
function timeText(page: Page, text: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector('main')?.textContent.includes(${JSON.stringify(text)})) return false
      requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()))
      return true
    }
    const observer = new MutationObserver(() => look() && observer.disconnect())
    if (!look()) observer.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true })
  })`)
}

/** How many times later than a bare watch the page shows a change, without the frame that it is drawn in. */
async function timeChanges(page: Page, { client }: Cluster): Promise<number> {
  const kind = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' }
  const end = new AbortController()
  const heard = new Map<string, (time: number) => void>()
  const { resourceVersion } = await client.list(kind)
  const watching = (async () => {
    for await (const event of client.watch(kind, { resourceVersion, signal: end.signal })) {
      const message = JSON.stringify(event)
      for (const [text, resolve] of heard)
        if (message.includes(text)) resolve(performance.timeOrigin + performance.now())
    }
  })().catch(() => undefined)
  const ratios: number[] = []
  for (let round = 0; round < CHANGES; round += 1) {
    const cloud = (round * 7) % CLOUDS
    const text = `step ${round} of the bench`
    const bare = new Promise<number>((resolve) => heard.set(text, resolve))
    const shown = timeText(page, text)
    const lastTransitionTime = new Date().toISOString()
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'Error', severity: 'Error', message: text, lastTransitionTime },
    ]
    const began = performance.timeOrigin + performance.now()
    const ref = { ...kind, namespace: `openstack${cloud}`, name: 'controlplane' }
    const patched = client.patch(ref, { status: { observedGeneration: 1, conditions } }, statusPatch)
    const [, heardAt, shownAt] = await Promise.all([patched, bare, shown])
    ratios.push((shownAt - FRAME_MS - began) / (heardAt - began))
    await new Promise((next) => setTimeout(next, 400))
  }
  end.abort()
  await watching
  return median(ratios)
}

/** Long tasks of the page (over 50 ms) while the address map is scrolled and zoomed. */
async function countLongTasks(page: Page): Promise<number> {
  const wheel = async (x: number, y: number, deltas: readonly number[]): Promise<void> => {
    await page.mouse.move(x, y)
    for (const delta of deltas) {
      await page.mouse.wheel(0, delta)
      await page.waitForTimeout(16)
    }
    await settle(page)
  }
  await page.evaluate("location.hash = '#/addresses'")
  await page.waitForSelector('.cells .cell')
  await settle(page)
  const whileCellsScroll = await recordTasks(page, () =>
    wheel(700, 500, [...Array<number>(40).fill(120), ...Array<number>(40).fill(-120)]),
  )
  await page.evaluate("location.hash = '#/addresses?cloud=cloud7&network=internalapi'")
  const bar = page.locator('.zoom-area').first()
  await bar.waitFor()
  await settle(page)
  const box = await bar.boundingBox()
  const whileNetworkZooms = await recordTasks(page, async () => {
    await page.keyboard.down('Control')
    const zoom = [...Array<number>(20).fill(-60), ...Array<number>(20).fill(60)]
    await wheel((box?.x ?? 0) + 300, (box?.y ?? 0) + 10, zoom)
    await page.keyboard.up('Control')
    await wheel(700, 600, [...Array<number>(30).fill(120), ...Array<number>(30).fill(-120)])
  })
  return [...whileCellsScroll, ...whileNetworkZooms].filter((ms) => ms > LONG_TASK_MS).length
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of the processor. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** The tasks of the page's main thread, in milliseconds of the processor: time that another program took is not the page's. */
async function recordTasks(page: Page, work: () => Promise<void>): Promise<readonly number[]> {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => void events.push(...(value as unknown as readonly TraceEvent[])))
  await session.send('Tracing.start', { categories: 'toplevel', transferMode: 'ReportEvents' })
  await work()
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`
  const isMainThread = ({ name, args }: TraceEvent): boolean =>
    name === 'thread_name' && args?.name === 'CrRendererMain'
  const main = new Set(events.filter(isMainThread).map(threadOf))
  const tasks = events.filter((event) => event.name === 'ThreadControllerImpl::RunTask' && main.has(threadOf(event)))
  if (tasks.length === 0) throw new Error('the browser has traced no task of the page')
  return tasks.map(({ tdur = 0 }) => tdur / 1000)
}

/** Opening a view is loading; scrolling and zooming begin after it. */
async function settle(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestIdleCallback(done, { timeout: 5000 }))')
  await page.waitForTimeout(500)
}

const measured = once(async (): Promise<ConsoleFigures> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { cluster, stop } = await startCluster({ crds: 'today' })
  const plan = writeSite(folder)
  await furnish(cluster.client, plan)
  const server = await startServer(folder, ['-f', 'site.yaml', '--kubeconfig', cluster.kubeconfig])
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } })
    page.setDefaultTimeout(LIMIT)
    const { origin } = new URL(server.link)
    await page.goto(server.link)
    await page.waitForSelector('tbody >> text="cloud49"')
    // The first examination of the cluster is part of the start.
    await page.evaluate("location.hash = '#/findings'")
    await page.waitForSelector('summary:has-text("checks of the cluster")')
    const { ratio: paint } = await compare({
      ours: () => timePaint(page, `${origin}/`, "document.querySelector('main tbody tr')"),
      theirs: () => timePaint(page, `${origin}/icon.svg`, "document.readyState === 'complete'"),
      rounds: 9,
      warmUp: 2,
    })
    await page.goto(`${origin}/`)
    await page.waitForSelector('tbody >> text="cloud49"')
    const change = await timeChanges(page, cluster)
    const longTasks = await countLongTasks(page)
    const status = await runNode(['bin/stackloom', 'status', '--kubeconfig', cluster.kubeconfig, '-o', 'json'])
    return { paint, change, longTasks, memory: server.peakMiB() / status.peakMiB }
  } finally {
    await browser.close()
    await server.stop()
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

function figure(name: keyof ConsoleFigures): () => Promise<Measured> {
  return async () => (existsSync(BROWSER) ? (await measured())[name] : { unavailable: 'chromium is not installed' })
}

export const figures: readonly Figure[] = [
  { name: 'console.first-paint', unit: 'x', target: { op: '<=', value: 3 }, measure: figure('paint') },
  { name: 'console.change', unit: 'x', target: { op: '<=', value: 2 }, measure: figure('change') },
  { name: 'console.long-tasks', unit: 'tasks', target: { op: '<=', value: 0 }, measure: figure('longTasks') },
  { name: 'console.memory', unit: 'x', target: { op: '<=', value: 1.5 }, measure: figure('memory') },
]
