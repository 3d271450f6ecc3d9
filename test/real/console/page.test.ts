/** The page in a browser, with documents made by the functions of the server: every view, width, theme and key. */
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AddressesDocument, NetworkDocument } from '../../../src/console/documents/addresses.ts'
import type { OverviewDocument } from '../../../src/console/documents/overview.ts'
import type { RunDocument } from '../../../src/console/documents/runs.ts'
import { expectNoSidewaysScroll, findViolations, requireBrowser, useBrowser, waitForAddress } from '../../browser.ts'
import { brokenExample, type ConsoleExample, deployedExample, planOnlyExample } from '../../console-documents.ts'
import { useExamplePage } from '../../console-page.ts'

const openPage = useBrowser()
const server = useExamplePage()

const views: Readonly<Record<string, string>> = {
  overview: '#/overview',
  addresses: '#/addresses',
  'one network': '#/addresses?cloud=rhoso1&network=internalapi',
  topology: '#/topology',
  'a selected segment': '#/topology?selected=segment%3Amain%2F20',
  run: '#/run',
  'the timeline of a run': '#/run?layout=timeline',
  'the graph of a run': '#/run?layout=graph',
  hosts: '#/hosts',
  findings: '#/findings',
  lab: '#/lab',
  search: '#/search?q=172.17.0.85',
}

let broken: ConsoleExample
beforeAll(() => {
  broken = brokenExample()
})
beforeEach((context) => {
  requireBrowser(context)
  server.show(broken)
})

/** Opens each view in turn, without loading the page again. */
async function forEachView(page: Page, check: (name: string) => Promise<void>): Promise<void> {
  await page.goto(server.url())
  for (const [name, hash] of Object.entries(views)) {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await page.waitForSelector(readySelectors[name] ?? 'main h1')
    await check(name)
  }
}

/** What a view has when it is complete; the graph is loaded later than the rest. */
const readySelectors: Readonly<Record<string, string>> = {
  overview: '.attention',
  addresses: '.bars',
  'one network': '.zoom',
  topology: '.map',
  'a selected segment': '.item.lit',
  run: '.grid',
  'the timeline of a run': '.timeline',
  'the graph of a run': '.graph',
  hosts: '.matrix',
  findings: '.list',
  lab: 'h1:has-text("Lab")',
  search: '.answer',
}

describe('every view', { timeout: 240_000 }, () => {
  it('fits 375, 1280 and 2560 pixels, without a violation or an error', async () => {
    const { page, errors } = await openPage({ colorScheme: 'light' })
    await forEachView(page, async (name) => {
      for (const width of [375, 2560, 1280]) {
        await page.setViewportSize({ width, height: 860 })
        await expectNoSidewaysScroll(page)
      }
      expect(await findViolations(page), name).toEqual([])
      expect(await page.locator('.head .command code').first().innerText(), name).toMatch(/^stackloom /)
    })
    expect(errors).toEqual([])
  })

  it('can be read in the dark theme, which differs in its colours alone', async () => {
    const { page, errors } = await openPage({ colorScheme: 'dark' })
    await forEachView(page, async (name) => {
      expect(await findViolations(page, ['color-contrast']), name).toEqual([])
    })
    expect(errors).toEqual([])
  })
})

describe('the page', { timeout: 240_000 }, () => {
  it('loads nothing from elsewhere, and keeps what it shows without its server', async () => {
    const { page, errors } = await openPage()
    const requested: string[] = []
    page.on('request', (request) => void requested.push(new URL(request.url()).origin))
    await forEachView(page, async () => undefined)
    expect([...new Set(requested)]).toEqual([new URL(server.url()).origin])
    expect(errors).toEqual([])
    await page.context().setOffline(true)
    await page.evaluate("location.hash = '#/overview'")
    await page.waitForSelector('table >> text="rhoso2"')
    await page.evaluate("location.hash = '#/addresses'")
    await page.waitForSelector('.bars')
  })

  it('prints every view on white without menu and buttons, and nothing is cut off', async () => {
    const { page } = await openPage({ colorScheme: 'dark' })
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: 794, height: 1123 })
    await forEachView(page, async (name) => {
      expect(await page.locator('nav, button').filter({ visible: true }).count(), name).toBe(0)
      const [colour, cut] = await page.evaluate<readonly [string, number]>(`[
        getComputedStyle(document.querySelector('main')).color,
        [...document.querySelectorAll('.log, .output, .map')].filter((part) => part.scrollHeight > part.clientHeight + 1).length,
      ]`)
      expect([name, colour, cut]).toEqual([name, 'rgb(24, 32, 42)', 0])
    })
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000)
  })

  it('is announced to a screen reader: the view, its title and what changes', async () => {
    const { page } = await openPage()
    await forEachView(page, async (name) => {
      expect(await page.getByRole('main').getByRole('heading', { level: 1 }).count(), name).toBe(1)
      await page.waitForFunction("document.title.endsWith(' · Stackloom')")
      const unnamed = await page.evaluate<number>(`
        [...document.querySelectorAll('table, [role=table]')].filter(
          (table) => !(table.caption?.textContent || table.getAttribute('aria-label')),
        ).length`)
      expect(unnamed, name).toBe(0)
    })
    await page.keyboard.press('2')
    await page.waitForSelector('.bars')
    // The focus moves after the frame in which the view is drawn.
    await page.waitForFunction("document.activeElement?.tagName === 'MAIN'")
    expect(await page.getByRole('status').count()).toBeGreaterThan(0)
    expect(await page.locator('.bar').first().getAttribute('aria-label')).toContain('planned')
  })

  it('marks the L2 domain of a VLAN, and what fails with it, by one key or click', async () => {
    const { page } = await openPage()
    await page.goto(`${server.url()}#/topology`)
    await page.getByRole('link', { name: 'VLAN 20', exact: true }).click()
    await page.waitForSelector('.item.lit')
    const lit = await page.locator('.item.lit').allInnerTexts()
    expect(lit.map((text) => text.split('\n').at(-1))).toContain('VLAN 20')
    expect(await page.locator('.item.cloud.lit').count()).toBe(0)
    expect(await page.locator('.item.dim', { hasText: 'VLAN 21' }).count()).toBe(1)
    expect(await page.getByText(/VLAN 20 carries 1 cloud, 3 VIPs/).count()).toBeGreaterThan(0)
  })

  it('is used by keys alone', async () => {
    const { page } = await openPage()
    await page.goto(server.url())
    await page.waitForSelector('main h1')
    const focused = (): Promise<string> => page.evaluate<string>("document.activeElement?.textContent ?? ''")
    await page.keyboard.press('6')
    await page.waitForSelector('text="Filter findings"', { state: 'attached' })
    await page.keyboard.press('/')
    await page.keyboard.type('SL9025')
    await waitForAddress(page, 'filter=SL9025')
    await page.waitForFunction("document.querySelectorAll('.list .line').length === 1")
    await page.keyboard.press('Escape')
    expect(await focused()).toContain('SL9025')
    await page.keyboard.press('Escape')
    await page.waitForFunction("document.querySelectorAll('.list .line').length > 1")
    await page.keyboard.press('j')
    const second = await focused()
    await page.keyboard.press('j')
    expect(await focused()).not.toBe(second)
    await page.keyboard.press('k')
    expect(await focused()).toBe(second)
    await page.keyboard.press('Enter')
    await waitForAddress(page, 'selected=')
    await page.waitForSelector('.line[aria-current]')
    await page.keyboard.press('?')
    expect(await page.locator('dialog[open]').innerText()).toContain('filter or search')
    await page.keyboard.press('Escape')
    await page.waitForFunction("document.querySelector('dialog[open]') === null")
    await page.keyboard.press('s')
    await page.keyboard.type('172.17.0.85')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.answer')
    await waitForAddress(page, '#/search?q=172.17.0.85')
  })

  it('shows a change of the stream without loading the page again, and keeps the focus', async () => {
    const { page, errors } = await openPage()
    await page.goto(server.url())
    await page.waitForSelector('text="live"')
    const row = page.locator('main table a', { hasText: 'rhoso2' })
    await row.focus()
    const [line] = (broken.documents.overview as { clouds: { id: string; state: string }[] }).clouds.filter(
      ({ id }) => id === 'rhoso2',
    )
    if (!line) throw new Error('the example has no rhoso2')
    server.send({
      kind: 'patch',
      document: 'overview',
      version: 8,
      set: { clouds: [{ ...line, state: 'failed', reason: 'a reason from the stream' }] },
    })
    await page.waitForSelector('text="a reason from the stream"')
    expect(await page.evaluate<string>('document.activeElement?.textContent')).toBe('rhoso2')
    expect(errors).toEqual([])
  })

  it('says that the cluster is lost, and that it is back', async () => {
    const { page } = await openPage()
    await page.goto(server.url())
    await page.waitForSelector('text="live"')
    const since = new Date().toISOString()
    server.send({ kind: 'connection', version: 9, connection: { kind: 'lost', since, reason: 'connect ECONNREFUSED' } })
    expect(await page.getByRole('alert').innerText()).toContain('connect ECONNREFUSED')
    server.send({ kind: 'connection', version: 10, connection: { kind: 'connected', since } })
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  it('loads everything again when the stream says so', async () => {
    const { page } = await openPage()
    await page.goto(server.url())
    await page.waitForSelector('text="live"')
    await page.waitForSelector('.attention >> text=/172.17.0.88/')
    server.show(deployedExample())
    server.send({ kind: 'reset', version: 20 })
    await page.waitForSelector('.attention >> text=/172.17.0.88/', { state: 'detached' })
  })

  it('asks for a new link when its session has ended', async () => {
    const { page } = await openPage()
    await page.goto(server.url())
    await page.waitForSelector('text="live"')
    server.endSession()
    expect(await page.getByRole('alert').innerText()).toContain('This session has ended')
  })

  it('shows a plan without a cluster', async () => {
    server.show(planOnlyExample())
    const { page, errors } = await openPage()
    await page.goto(`${server.url()}#/addresses`)
    await page.waitForSelector('.bar')
    await page.waitForSelector('.top >> text="plan only"')
    expect(await page.locator('fieldset').count()).toBe(0)
    expect(errors).toEqual([])
  })

  it('folds the address map of many clouds to a row of cells each, and unfolds one', async () => {
    const { documents, ...rest } = planOnlyExample()
    const { subnets, clouds } = documents.addresses as AddressesDocument
    const names = Array.from({ length: 50 }, (_, index) => `cloud-${index}`)
    const copies = <T extends { readonly id: string }>(of: readonly T[], rename: (value: T, name: string) => T): T[] =>
      names.flatMap((name) => of.map((value) => ({ ...rename(value, name), id: `${name}/${value.id}` })))
    const addresses = {
      ...documents.addresses,
      clouds: copies(clouds.slice(0, 1), (cloud, name) => ({ ...cloud, name })),
      subnets: copies(
        subnets.filter(({ cloud }) => cloud === clouds[0]?.name),
        (subnet, cloud) => ({ ...subnet, cloud }),
      ),
    }
    server.show({ ...rest, documents: { ...documents, addresses } })
    const { page, errors } = await openPage()
    await page.goto(`${server.url()}#/addresses`)
    await page.waitForSelector('h2:has-text("50 clouds, fullest first")')
    expect(await page.locator('.cells [role=rowheader]').allInnerTexts()).toEqual(names)
    expect(await page.locator('.cells .sparkline').count()).toBe(addresses.subnets.length)
    await page.click('.cells >> text="cloud-7"')
    await page.waitForSelector('.bars')
    expect(await page.locator('.bar-row').count()).toBe(addresses.subnets.length / names.length)
    expect(errors).toEqual([])
  })

  it('shows the address that a link selects among many', async () => {
    const example = planOnlyExample()
    const network = example.network as NetworkDocument
    const [subnet] = network.subnets
    const [mark] = subnet?.marks ?? []
    if (!subnet || !mark) throw new Error('the example has no address')
    const marks = Array.from({ length: 300 }, (_, index) => ({ ...mark, id: `10.0.${index >> 8}.${index & 255}` }))
    server.show({ ...example, network: { ...network, subnets: [{ ...subnet, marks }] } })
    const { page } = await openPage()
    await page.goto(`${server.url()}#/addresses?cloud=rhoso1&network=internalapi&selected=10.0.0.200`)
    await page.waitForSelector('tr.selected >> text="10.0.0.200"')
    await page.getByRole('button', { name: 'Show 99 more of 300' }).click()
    await page.waitForSelector('td >> text="10.0.1.43"')
  })

  it('says what was checked where nothing was found', async () => {
    const { documents, ...rest } = deployedExample()
    server.show({ ...rest, documents: { ...documents, findings: { ...documents.findings, findings: [], groups: [] } } })
    const { page } = await openPage()
    await page.goto(`${server.url()}#/findings`)
    const text = await page.locator('main .empty', { hasText: 'No findings' }).innerText()
    expect(text).toMatch(
      /No findings\s+checked: the plan of 2 clouds, \d+ checks of the cluster \(\d+ passed\), \d+ rules of doctor/,
    )
  })

  it('says that nothing matches a filter, in every view with one, and that there are no hosts', async () => {
    const { page } = await openPage()
    await page.goto(server.url())
    for (const view of ['overview', 'addresses', 'addresses?cloud=rhoso1&network=internalapi', 'hosts', 'findings']) {
      const hash = `#/${view}${view.includes('?') ? '&' : '?'}filter=no-such-text`
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.waitForSelector('main >> text=/^No [a-z]+ matches\\.$/')
      await page.evaluate("location.hash = '#/lab'")
      await page.waitForSelector('h1:has-text("Lab")')
    }
    const { documents, ...rest } = deployedExample()
    server.show({ ...rest, documents: { ...documents, hosts: { ...documents.hosts, nodeSets: [] } } })
    server.send({ kind: 'reset', version: 20 })
    await page.evaluate("location.hash = '#/hosts'")
    await page.waitForSelector('.empty >> text="No node set is deployed"')
  })

  it("shows Ansible's output of a run that is selected", async () => {
    const { page } = await openPage()
    await page.goto(`${server.url()}#/hosts`)
    await page.getByRole('link', { name: 'edpm-update' }).click()
    expect(await page.locator('.output').innerText()).toContain('fatal: [compute-1]: FAILED!')
    await waitForAddress(page, 'selected=openstack%2Fedpm-update')
  })

  it('keeps a reason readable beside a long command', async () => {
    const { documents, ...rest } = broken
    const { attention } = documents.overview as OverviewDocument
    const long = attention.map((item) => ({ ...item, command: `kubectl patch ipaddresspool ${'x'.repeat(400)}` }))
    server.show({ ...rest, documents: { ...documents, overview: { ...documents.overview, attention: long } } })
    const { page } = await openPage()
    await page.goto(server.url())
    const box = await page.locator('.attention li > div').first().boundingBox()
    expect(box?.width).toBeGreaterThan(500)
    await expectNoSidewaysScroll(page)
  })

  it('moves back and forth between links', async () => {
    const { page } = await openPage()
    await page.goto(`${server.url()}#/addresses?mode=difference`)
    await page.waitForSelector('.bar')
    expect(await page.locator('input[value=difference]').isChecked()).toBe(true)
    await page.locator('.bar-name').first().click()
    await page.waitForSelector('.zoom')
    expect(await page.locator('input[value=difference]').isChecked()).toBe(true)
    await page.goBack()
    await page.waitForSelector('.bar-row')
  })

  it('replays a run with the slider', async () => {
    const { page } = await openPage()
    await page.goto(`${server.url()}#/run`)
    await page.waitForSelector('.stage.failed')
    await page.getByRole('slider').fill('3')
    await page.waitForSelector('.stage.running')
    expect(await page.locator('.stage.failed').count()).toBe(0)
    await waitForAddress(page, 'until=3')
  })

  it('draws the critical path as one line through the graph', async () => {
    const { criticalPath } = broken.run as RunDocument
    const [first = '', , third = ''] = criticalPath
    // A stage of the path also waits for one that is not the step before it.
    const runEvents = broken.runEvents.map((event) =>
      event.kind === 'run-started'
        ? {
            ...event,
            stages: event.stages.map((stage) =>
              stage.id === third ? { ...stage, after: [...stage.after, first] } : stage,
            ),
          }
        : event,
    )
    server.show({ ...broken, runEvents })
    const { page } = await openPage()
    await page.goto(`${server.url()}#/run?layout=graph`)
    await page.waitForSelector('.edge.critical', { state: 'attached' })
    expect(await page.locator('.edge.critical').count()).toBe(criticalPath.length - 1)
  })

  it('shows hostile names as text in every view', async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>\u001b[31m'
    server.show(JSON.parse(JSON.stringify(broken).replaceAll('rhoso2', JSON.stringify(hostile).slice(1, -1))))
    const { page, errors } = await openPage()
    await forEachView(page, async (name) => {
      expect(await page.locator('img[src=x], main script').count(), name).toBe(0)
    })
    await page.goto(`${server.url()}#/addresses`)
    await page.waitForSelector(`h2:has-text(${JSON.stringify(hostile.slice(0, 28))})`)
    expect(errors).toEqual([])
  })
})
