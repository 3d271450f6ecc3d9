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

let paths: SandboxPaths
const settings: Settings = { name: 'one', crds: 'none', netns: false, parts: [], actors: [], port: 6443 }
const codeOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (error: Failure) => error.findings[0]?.code,
    )

beforeAll(async () => {
  paths = resolveSandboxPaths({ XDG_STATE_HOME: await mkdtemp(path.join(tmpdir(), 'stackloom-settings-')) })
})
afterAll(() => rm(path.dirname(path.dirname(paths.sandboxes)), { recursive: true }))

describe('the settings of a sandbox', () => {
  it('are read as written, and list the sandbox', async () => {
    await writeSettings(locateSandbox(paths, 'one'), settings)
    expect(await requireSettings(paths, 'one')).toEqual(settings)
    expect(await listSandboxNames(paths)).toEqual(['one'])
    expect(await readSettings(locateSandbox(paths, 'two'))).toBeUndefined()
    expect(await codeOf(() => requireSettings(paths, 'two'))).toBe('SL1213')
  })

  it('report unreadable files', async () => {
    const broken = locateSandbox(paths, 'broken')
    await mkdir(broken.root, { recursive: true })
    await writeFile(broken.settings, '{')
    expect(await codeOf(() => readSettings(broken))).toBe('SL1217')
  })

  it.each(['', '../x', 'A', 'a/b', '-a', 'a'.repeat(41)])('reject the name %j', async (name) => {
    expect(await codeOf(() => locateSandbox(paths, name))).toBe('SL1215')
  })
})

describe('the sandbox paths', () => {
  it('are in the folders of the user, and ignore relative XDG variables', () => {
    expect(resolveSandboxPaths({ HOME: '/home/x', XDG_CACHE_HOME: 'relative' }).cache).toBe('/home/x/.cache/stackloom')
    expect(resolveSandboxPaths({ HOME: '/home/x', XDG_CACHE_HOME: '/c' }).cache).toBe('/c/stackloom')
    expect(resolveSandboxPaths({ HOME: '/home/x' }).sandboxes).toBe('/home/x/.local/state/stackloom/sandboxes')
  })
})
