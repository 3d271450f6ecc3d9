/** `stackloom console` in a browser, with its own server: a plan without a cluster. */
import { copyFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { buildWeb } from '../../../tools/build-web.ts'
import { requireBrowser, useBrowser } from '../../browser.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'

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
