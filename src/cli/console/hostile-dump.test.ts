/** The console of dumps of which one field has another type, over HTTP: every view is answered. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { count } from '../../../test/counts.ts'
import { exampleDump, mutations, wrongValues } from '../../../test/dump-mutations.ts'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

const folder = useFolder()
const site = path.resolve('examples/two-clouds.yaml')
const views = ['meta', 'overview', 'addresses', 'topology', 'hosts', 'findings', 'search?q=rhoso1']

/** The views that are not answered, with what is answered instead. A dump may be refused with a finding if `mayEnd`. */
async function brokenViews(items: readonly unknown[], mayEnd: boolean): Promise<readonly string[]> {
  const file = path.join(folder, 'dump.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const stop = new AbortController()
  const io = testIo({ cwd: folder, env: { HOME: folder }, stop: stop.signal })
  const running = main(['console', '-f', site, '--from', file], io)
  try {
    const ended = running.then((code) => `ended with ${code}: ${io.err()}`)
    const started = vi.waitUntil(() => io.out().includes('token='), { timeout: 60_000 })
    const outcome = await Promise.race([ended, started])
    if (typeof outcome === 'string') return mayEnd && !outcome.includes('SL1000') ? [] : [outcome]
    const link = io.out().trim()
    const login = await fetch(link, { redirect: 'manual' })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const replies = await Promise.all(
      views.map(async (view) => {
        const reply = await fetch(new URL(`/api/${view}`, link), { headers: { cookie } })
        const text = await reply.text()
        return reply.status === 200 ? [] : [`${view}: ${reply.status} ${text.slice(0, 200)}`]
      }),
    )
    return replies.flat()
  } finally {
    stop.abort()
    await running
  }
}

it('answers every view of a dump with a value of the wrong type', async () => {
  expect(await brokenViews(exampleDump(), false)).toEqual([])
  const every = count({ test: 2_500, soak: 40 })
  let index = 0
  for (const value of wrongValues) {
    for (const { kind, path: field, objects } of mutations(exampleDump(), value)) {
      index += 1
      if (index % every !== 0) continue
      expect(await brokenViews(objects, true), `${kind} ${field} = ${JSON.stringify(value)}`).toEqual([])
    }
  }
  expect(index).toBeGreaterThan(every)
}, 3_600_000)
