/** Runs the commands of README and docs that need no cluster, each page in a folder of its own. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { defaultReleaseName } from '../../../src/plan/release/releases.ts'
import { findDocCommands, startsEmpty } from '../../../tools/doc-commands.ts'
import { requireSoak } from '../../counts.ts'
import { buildForDocs, makeReaderFolder, readDocPages, runDocCommands } from '../../doc-runner.ts'
import { docSandboxes, sandboxCommands } from '../../doc-sandboxes.ts'
import { type NetBoxServer, startNetBox } from '../../netbox-server.ts'
import { hasRelease, RELEASES, sandboxContext } from '../../sandbox-context.ts'

vi.setConfig({ testTimeout: 240_000 })

// On the file system of the checkout, so that clones can link its packages, and not in what packages and images copy.
mkdirSync('.cache', { recursive: true })
const folder = mkdtempSync(path.resolve('.cache/docs-'))
let bin = ''
let netbox: NetBoxServer
let mirror: Server
let env: Readonly<Record<string, string>> = {}

beforeAll(async () => {
  bin = await buildForDocs(path.join(folder, 'program'))
  netbox = await startNetBox('nbt_key.secret')
  const vlan = netbox.add('ipam/vlans', { vid: 120, name: 'corp' })
  const named = { tenant: { slug: 'rhoso1' }, role: { slug: 'ctlplane' } }
  netbox.add('ipam/prefixes', { prefix: '203.0.113.0/24', ...named, vlan })
  netbox.add('ipam/ip-addresses', { address: '203.0.113.1/24', tags: [{ slug: 'gateway' }] })
  netbox.add('ipam/ip-addresses', { address: '203.0.113.9/24' })
  // A registry that lacks one of the images in the dump.
  mirror = createServer(({ url = '' }, response) => void response.writeHead(url.includes('nova') ? 200 : 404).end())
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve))
  const { port } = mirror.address() as AddressInfo
  env = { NETBOX: netbox.url, MIRROR: `127.0.0.1:${port}` }
}, 300_000)

afterAll(async () => {
  mirror.close()
  await netbox.close()
  rmSync(folder, { recursive: true, force: true })
})

const withCommands = readDocPages()
  .map((page) => ({
    ...page,
    commands: findDocCommands(page.text)
      .filter(({ notRun, sandbox }) => notRun === undefined && sandbox === undefined)
      .map((command) => ({ ...command, page: page.name })),
  }))
  .filter(({ commands }) => commands.length > 0)

it('some pages have commands that need no cluster', () => {
  expect(withCommands.map(({ name }) => name)).toContain('README.md')
  expect(withCommands.length).toBeGreaterThanOrEqual(5)
})

it.each(withCommands)('the commands of $name print what it shows', async ({ name, text, commands }) => {
  const cwd = path.join(folder, name.replaceAll('/', '-'))
  await makeReaderFolder(cwd)
  if (!startsEmpty(text)) copyFileSync('examples/two-clouds.yaml', path.join(cwd, 'site.yaml'))
  expect(await runDocCommands(commands, { bin, cwd, env })).toEqual([])
})

const cloneCheckout = (): string => {
  const cwd = mkdtempSync(path.join(folder, 'clone-'))
  execFileSync('git', ['clone', '--quiet', process.cwd(), cwd])
  // Hard links: the build wants to know which files are packages.
  execFileSync('cp', ['-al', path.resolve('node_modules'), cwd])
  return cwd
}

it('the demo of README runs in a clone', { timeout: 1_800_000 }, async (ctx) => {
  requireSoak(ctx)
  const { cache } = sandboxContext().paths
  const env = { CHECKOUT: cloneCheckout(), XDG_CACHE_HOME: path.dirname(cache) }
  const cwd = mkdtempSync(path.join(folder, 'demo-'))
  expect(await runDocCommands(sandboxCommands('demo'), { bin, cwd, env })).toEqual([])
})

it.for(docSandboxes.checkout.pages)('the commands of %s for contributors work in a clone', async (page, ctx) => {
  const commands = sandboxCommands('checkout').filter((command) => command.page === page)
  if (commands.some(({ before }) => before?.includes('$CRDS')) && !hasRelease(defaultReleaseName()))
    ctx.skip('the CRDs of releases are not in ../shared/crds')
  const cwd = cloneCheckout()
  expect(await runDocCommands(commands, { bin, cwd, env: { CHECKOUT: process.cwd(), CRDS: RELEASES } })).toEqual([])
})
