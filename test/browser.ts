/** Debian's Chromium for tests of the console's page: one browser per test file, one profile per page. */
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, type TestContext } from 'vitest'

export const BROWSER = '/usr/bin/chromium'

export function requireBrowser(context: Pick<TestContext, 'skip'>): void {
  if (!existsSync(BROWSER)) context.skip('chromium is not installed; `make setup` as root installs it')
}

export interface WatchedPage {
  readonly page: Page
  /** Errors and warnings of the page's console, and exceptions. */
  readonly errors: readonly string[]
}

/** Returns a function that opens a page in a profile of its own; the page is closed after the test. */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<WatchedPage> {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (existsSync(BROWSER)) browser = await launchBrowser()
  }, 300_000)
  afterAll(() => browser?.close())
  return async (options = {}) => {
    if (!browser) throw new Error('the test must call requireBrowser first')
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
    context.setDefaultTimeout(120_000)
    onTestFinished(() => context.close())
    return watch(await context.newPage())
  }
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: BROWSER,
    timeout: 240_000,
    args: [
      // Root has no sandbox; the other flags keep the browser from asking for anything outside of this machine.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

function watch(page: Page): WatchedPage {
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  return { page, errors }
}

/** Waits until the address of the page contains a text: a browser reports a new address later than it draws the view. */
export async function waitForAddress(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`location.href.includes(${JSON.stringify(text)})`)
}

/** The violations of accessibility rules, as one line each. */
export async function findViolations(page: Page, only?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (rules) => {
    const { axe: engine } = globalThis as unknown as { axe: typeof axe }
    const { violations } = await engine.run(rules ? { runOnly: { type: 'rule', values: [...rules] } } : {})
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    )
  }, only)
}

/** Nothing is wider than the screen; parts that scroll by themselves are not counted. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content = 0, screen = 0] = await page.evaluate<readonly number[]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  expect(content, `the page at ${page.url()} is wider than the screen`).toBeLessThanOrEqual(screen)
}
