import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Failure } from '../errors/failure.ts'
import { resolveSandboxPaths, type SandboxPaths } from './sandbox-context.ts'
import {
  listSandboxNames,
  locateSandbox,
  readSettings,
  requireSettings,
  type Settings,
  writeSettings,
} from './settings.ts'

let places: SandboxPaths
const settings: Settings = { name: 'one', crds: 'none', netns: false, parts: [], actors: [], port: 6443 }
const codeOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (error: Failure) => error.findings[0]?.code,
    )

beforeAll(async () => {
  places = resolveSandboxPaths({ XDG_STATE_HOME: await mkdtemp(path.join(tmpdir(), 'stackloom-settings-')) })
})
afterAll(() => rm(path.dirname(path.dirname(places.sandboxes)), { recursive: true }))

describe('the settings of a sandbox', () => {
  it('are what was written, and make it known', async () => {
    await writeSettings(locateSandbox(places, 'one'), settings)
    expect(await requireSettings(places, 'one')).toEqual(settings)
    expect(await listSandboxNames(places)).toEqual(['one'])
    expect(await readSettings(locateSandbox(places, 'two'))).toBeUndefined()
    expect(await codeOf(() => requireSettings(places, 'two'))).toBe('SL1213')
  })

  it('say so when they cannot be read', async () => {
    const broken = locateSandbox(places, 'broken')
    await mkdir(broken.root, { recursive: true })
    await writeFile(broken.settings, '{')
    expect(await codeOf(() => readSettings(broken))).toBe('SL1217')
  })

  it.each(['', '../x', 'A', 'a/b', '-a', 'a'.repeat(41)])('have no place under the name %j', async (name) => {
    expect(await codeOf(() => locateSandbox(places, name))).toBe('SL1215')
  })
})

describe('the places', () => {
  it("are the user's own, and a relative one is ignored", () => {
    expect(resolveSandboxPaths({ HOME: '/home/x', XDG_CACHE_HOME: 'relative' }).cache).toBe('/home/x/.cache/stackloom')
    expect(resolveSandboxPaths({ HOME: '/home/x', XDG_CACHE_HOME: '/c' }).cache).toBe('/c/stackloom')
    expect(resolveSandboxPaths({ HOME: '/home/x' }).sandboxes).toBe('/home/x/.local/state/stackloom/sandboxes')
  })
})
