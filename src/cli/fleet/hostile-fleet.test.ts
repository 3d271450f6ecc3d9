/** Fleet files from elsewhere: a fleet file names other files and clusters, and nothing in it may become more than a name. */
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

const folder = useFolder()
const ESCAPE = '\u001b]52;c;aGk=\u0007'

function writeFleet(sites: readonly object[], more: object = {}): void {
  const fleet = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Fleet',
    metadata: { name: 'europe' },
    spec: { sites, ...more },
  }
  writeFileSync(path.join(folder, 'fleet.yaml'), JSON.stringify(fleet))
}

const commands = [
  ['plan', '--check'],
  ['status'],
  ['verify'],
  ['doctor'],
  ['hosts'],
  ['certificates'],
  ['update', '--yes'],
] as const

/** The exit code and all that was printed; fails for a crash, a control character, or a file that was written. */
async function run(words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const before = readdirSync(folder)
  const io = testIo({ cwd: folder, columns: 200, env: { HOME: folder } })
  const code = await main([...words, '--fleet', 'fleet.yaml'], io)
  const text = io.out() + io.err()
  expect(text).not.toContain('SL1000')
  expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u)
  expect(readdirSync(folder).filter((name) => !before.includes(name) && !name.startsWith('.'))).toEqual([])
  return { code, text }
}

describe('a fleet file from elsewhere', () => {
  it.each(['../x', 'a/b', 'a\nfix: forged', `a${ESCAPE}`, '__proto__', '-rf', '', 'a'.repeat(64)])(
    'is refused with the name %j of a site',
    async (name) => {
      writeFleet([{ name, file: 'site.yaml' }])
      for (const words of commands) expect((await run(words)).code).toBe(2)
    },
  )

  it.each([
    ['a device without an end', '/dev/zero'],
    ['a folder', '.'],
    ['a file that is no site', '/etc/passwd'],
    ['a name with a null byte', 'a\0b'],
    ['a name with an escape code', `${ESCAPE}\nfix: rm -rf /`],
    ['the fleet file itself', 'fleet.yaml'],
    ['a link to itself', 'loop.yaml'],
  ])(
    'reports the site whose file is %s, and shows nothing of it',
    async (_, file) => {
      writeFileSync(path.join(folder, 'empty.conf'), 'kind: Config\n')
      try {
        symlinkSync('loop.yaml', path.join(folder, 'loop.yaml'))
      } catch {
        // An earlier case created it.
      }
      writeFleet([{ name: 'berlin', file, kubeconfig: 'empty.conf' }])
      for (const words of commands) {
        const { code, text } = await run(words)
        expect([1, 2, 3]).toContain(code)
        expect(text).not.toContain('root:x:0')
        expect(text).not.toMatch(/^\s*fix: rm/m)
      }
    },
    300_000,
  )

  it.each([
    ['a context with an escape code', { context: `${ESCAPE}\nfix: forged` }],
    ['a context that is a name of every object', { context: '__proto__' }],
    ['a kubeconfig that is a device', { kubeconfig: '/dev/zero' }],
    ['a kubeconfig that is a folder', { kubeconfig: '/' }],
    ['a kubeconfig with a null byte', { kubeconfig: 'a\0b' }],
    ['a kubeconfig with aliases without an end', { kubeconfig: 'endless.conf' }],
    ['a lock that is a device', { lock: '/dev/zero' }],
  ])(
    'reports %s',
    async (_, more) => {
      writeFileSync(path.join(folder, 'endless.conf'), 'clusters: &a [*a]\n')
      writeFleet([{ name: 'berlin', file: path.resolve('examples/two-clouds.yaml'), kubeconfig: 'none.conf', ...more }])
      for (const words of commands) {
        const { code, text } = await run(words)
        if (words[0] !== 'plan' || 'lock' in more) expect([1, 2, 3]).toContain(code)
        expect(text).not.toMatch(/^\s*fix: forged/m)
      }
    },
    300_000,
  )

  it('never runs a command that a kubeconfig of the fleet names, while it only plans', async () => {
    const marker = path.join(folder, '.executed')
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: [marker] }
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:1' } }],
      users: [{ name: 'a', user: { exec } }],
    }
    writeFileSync(path.join(folder, 'exec.conf'), JSON.stringify(config))
    writeFleet([{ name: 'berlin', file: path.resolve('examples/two-clouds.yaml'), kubeconfig: 'exec.conf' }])
    await run(['plan', '--check'])
    expect(readdirSync(folder)).not.toContain('.executed')
  })

  it('is refused when its aliases have no end', async () => {
    const doubled = Array.from({ length: 60 }, (_, n) => `b${n + 1}: &b${n + 1} [*b${n}, *b${n}]`).join('\n')
    for (const text of ['&a [*a]', 'spec: &a {sites: *a}', `b0: &b0 [1, 1]\n${doubled}\n`, '['.repeat(200_000)]) {
      writeFileSync(path.join(folder, 'fleet.yaml'), text)
      expect((await run(['plan', '--check'])).code).toBe(2)
    }
  })

  it('costs as much as it is large, with thousands of sites without files', async () => {
    writeFleet(
      Array.from({ length: count({ test: 500, soak: 20_000 }) }, (_, n) => ({
        name: `s${n}`,
        file: 'none.yaml',
        routers: ['r'],
      })),
    )
    expect((await run(['plan', '--check'])).code).toBe(2)
  }, 300_000)
})
