/** Builds the documentation site with the real VitePress, follows its links, and uses it in Chromium. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { filesBelow } from '../../../tools/files.ts'
import { monitoringObjects } from '../../../tools/release-monitoring.ts'
import { buildSite } from '../../../tools/site.ts'
import { requireBrowser, useBrowser } from '../../browser.ts'

vi.setConfig({ testTimeout: 600_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-built-site-'))
const pages = new Map<string, string>()

beforeAll(() => {
  buildSite(folder)
  for (const name of filesBelow(folder, '.').filter((file) => file.endsWith('.html'))) {
    pages.set(name, readFileSync(path.join(folder, name), 'utf8'))
  }
}, 900_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The file that a server answers with. */
function servedFile(address: string): string {
  const file = address.replace(/^\//, '')
  return file === '' || file.endsWith('/') ? `${file}index.html` : file
}

it('every link leads to a page, and to a heading that it has', () => {
  const broken: string[] = []
  let count = 0
  for (const [page, html] of pages) {
    for (const [, href = ''] of html.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(href)) continue
      count += 1
      const [address = '', anchor] = href.split('#')
      const target = address === '' ? page : servedFile(path.posix.resolve('/', path.posix.dirname(page), address))
      const file = address.endsWith('/') && !target.endsWith('.html') ? `${target}/index.html` : target
      const text = pages.get(file)
      const exists = text !== undefined || existsSync(path.join(folder, file))
      const id = decodeURIComponent(anchor ?? '')
      if (!exists || (id !== '' && text !== undefined && !text.includes(`id="${id}"`))) broken.push(`${page}: ${href}`)
    }
  }
  expect(count).toBeGreaterThan(2000)
  expect(broken).toEqual([])
})

it('the pages show templates of other programs unchanged, no others, and no comment', () => {
  expect(pages.get('findings/lab.html')).toContain('{{ name | default(')
  const withTemplates = [...pages].filter(([, html]) => html.replace(/<code\b.*?<\/code>/gs, '').includes('{{'))
  expect(withTemplates.map(([name]) => name)).toEqual([])
  expect([...pages].filter(([, html]) => html.includes('&lt;!--')).map(([name]) => name)).toEqual([])
})

it('every block of code has a frame that scrolls, so that no page is wider than a phone', () => {
  const bare = [...pages].filter(([, html]) => /(?<!<\/span>)<pre(?! class="shiki)/.test(html))
  expect(bare.map(([name]) => name)).toEqual([])
})

it('the site has a search index, a dark mode, and the version of the program', () => {
  const scripts = filesBelow(folder, 'assets').filter((file) => file.includes('localSearchIndex'))
  expect(scripts).toHaveLength(1)
  expect(readFileSync(path.join(folder, scripts[0] ?? ''), 'utf8')).toContain('SL2101')
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const index = pages.get('index.html') ?? ''
  expect(index).toContain('VPSwitchAppearance')
  expect(index).toContain(`Version ${version}`)
})

it('every alert links to a heading of the site', () => {
  const rule = monitoringObjects().find(({ kind }) => kind === 'PrometheusRule')
  const urls = [...JSON.stringify(rule).matchAll(/"runbook_url":"https:\/\/stackloom\.dev\/([^"#]+)#([^"]+)"/g)]
  expect(urls.length).toBeGreaterThan(5)
  for (const [, page = '', heading = ''] of urls) expect(pages.get(page)).toContain(`id="${heading}"`)
})

describe('in Chromium', () => {
  const open = useBrowser()
  const server: Server = createServer((request, response) => {
    const file = path.join(folder, servedFile(new URL(request.url ?? '', 'http://site').pathname))
    if (!existsSync(file)) return void response.writeHead(404).end()
    const types: Readonly<Record<string, string>> = {
      '.html': 'text/html',
      '.js': 'text/javascript',
      '.css': 'text/css',
      '.svg': 'image/svg+xml',
    }
    response.setHeader('content-type', types[path.extname(file)] ?? 'application/octet-stream')
    response.end(readFileSync(file))
  })
  let origin = ''

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(requireBrowser)

  it('the menu of versions leads to the changelog', async () => {
    const { page } = await open()
    await page.goto(`${origin}/`)
    await page.locator('.VPNavBarMenuGroup', { hasText: 'Version' }).hover()
    await page.locator('.VPMenuLink', { hasText: 'Changes' }).click()
    await page.waitForURL(/project\/changelog/)
  })

  it.for(['/', 'Control+k'])('a page is found with the keyboard alone, from the key %s on', async (key) => {
    const { page, errors } = await open()
    await page.goto(`${origin}/`)
    // Keys are listened to when the page has become an application.
    await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
    await page.keyboard.press(key)
    await page.locator('.VPLocalSearchBox .search-input:focus').waitFor()
    await page.keyboard.type('SL2101')
    const results = page.locator('.VPLocalSearchBox .result')
    const selected = page.locator('.VPLocalSearchBox .result.selected')
    const soon = { timeout: 30_000 }
    // Results change while a word is typed.
    const first = '/findings/plan.html#sl2101'
    await expect.poll(() => selected.getAttribute('href'), soon).toBe(first)
    await page.keyboard.press('ArrowDown')
    const second = await results.nth(1).getAttribute('href')
    expect(second).not.toBe(first)
    await expect.poll(() => selected.getAttribute('href'), soon).toBe(second)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => selected.getAttribute('href'), soon).toBe(first)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}${first}`)
    await expect.poll(() => page.locator('.VPLocalSearchBox').count(), soon).toBe(0)
    expect(errors).toEqual([])
  })

  it.for([
    ['light', 1280],
    ['light', 375],
    ['dark', 1280],
    ['dark', 375],
  ] as const)('pages fit in the %s theme with %i pixels, without an error', async ([colorScheme, width]) => {
    const { page, errors } = await open({ colorScheme, viewport: { width, height: 860 } })
    const wide: string[] = []
    for (const name of ['index', 'guide/install', 'guide/operator', 'reference/compatibility', 'architecture', 'faq']) {
      await page.goto(`${origin}/${name}.html`)
      expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(colorScheme === 'dark')
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      if (Number(overflow) > 0) wide.push(name)
    }
    expect({ wide, errors }).toEqual({ wide: [], errors: [] })
  })
})
