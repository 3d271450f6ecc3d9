/** The console of a fleet: every site in the overview, one of them in the other views. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { connectConsole } from '../../../test/console-client.ts'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import type { MetaDocument } from '../../console/documents/meta.ts'
import type { OverviewDocument } from '../../console/documents/overview.ts'
import { schemas } from '../../console/documents/schemas.ts'
import { routes } from '../../console/routes.ts'
import { main } from '../main.ts'

const folder = useFolder()
const LIMIT = 120_000

const siteFile = (name: string): string => `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: ${name}}
spec:
  cluster: {nodes: [{name: worker-0, nic: enp6s0}]}
  clouds: [{name: ${name}-1, namespace: openstack}]
`

const kubeconfig = (name: string): string => `
apiVersion: v1
kind: Config
current-context: ${name}
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}}}]
clusters: [{name: ${name}, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: ${name}, user: {}}]
`

beforeAll(() => {
  for (const name of ['berlin', 'paris']) {
    writeFileSync(path.join(folder, `${name}.yaml`), siteFile(name))
    writeFileSync(path.join(folder, `${name}.conf`), kubeconfig(name))
  }
  writeFileSync(
    path.join(folder, 'fleet.yaml'),
    `
apiVersion: stackloom.dev/v1alpha1
kind: Fleet
metadata: {name: europe}
spec:
  sites:
  - {name: berlin, file: berlin.yaml, kubeconfig: berlin.conf}
  - {name: paris, file: paris.yaml, kubeconfig: paris.conf}
`,
  )
})

async function read(...words: readonly string[]): Promise<{ overview: OverviewDocument; meta: MetaDocument }> {
  const stop = new AbortController()
  const io = testIo({ cwd: folder, env: { HOME: folder }, stop: stop.signal })
  const running = main(['console', '--fleet', 'fleet.yaml', ...words], io)
  await vi.waitUntil(() => io.out().includes('token='), { timeout: LIMIT })
  const client = await connectConsole(io.out().trim())
  try {
    const overview = await vi.waitUntil(
      async () => {
        const document = await client.get<OverviewDocument>(routes.overview)
        return document.sites.length > 0 && document
      },
      { timeout: LIMIT, interval: 200 },
    )
    return { overview, meta: await client.get<MetaDocument>(routes.meta) }
  } finally {
    client.close()
    stop.abort()
    await running
  }
}

describe('console --fleet', { timeout: 300_000 }, () => {
  it('lists every site with its problem, and shows the first one in the other views', async () => {
    const { overview, meta } = await read()
    expect(schemas.overview.safeParse(overview).error).toBeUndefined()
    expect(overview.sites).toMatchObject([
      { id: 'berlin', verdict: 'unreachable', isShown: true },
      {
        id: 'paris',
        verdict: 'unreachable',
        isShown: false,
        command: 'stackloom console --fleet fleet.yaml --site paris',
      },
    ])
    expect(overview.sites[1]?.problem).toContain('SL1100')
    expect(overview.attention.map(({ title }) => title)).toContain('Site paris cannot be reached')
    expect(meta.site).toBe('berlin')
  })

  it('shows the site that is chosen', async () => {
    const { overview, meta } = await read('--site', 'paris')
    expect(overview.sites.filter(({ isShown }) => isShown).map(({ id }) => id)).toEqual(['paris'])
    expect(meta.site).toBe('paris')
  })

  it.each([
    [['--site', 'rome'], 'has no site rome: it has berlin, paris'],
    [['-f', 'berlin.yaml'], "cannot be used with option '-f"],
    [['--context', 'x'], "cannot be used with option '--context"],
  ])('refuses %j', async (words, reason) => {
    const io = testIo({ cwd: folder, env: { HOME: folder } })
    expect(await main(['console', '--fleet', 'fleet.yaml', ...words], io)).toBe(2)
    expect(io.err()).toContain(reason)
  })

  it('refuses a site without a fleet', async () => {
    const io = testIo({ cwd: folder, env: { HOME: folder } })
    expect(await main(['console', '--site', 'paris'], io)).toBe(2)
    expect(io.err()).toContain('--site needs --fleet')
  })
})
