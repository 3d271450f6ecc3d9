import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { Failure } from '../../../src/errors/failure.ts'
import { runProcess, succeeded } from '../../../src/exec/process.ts'
import { ensurePins } from '../../../src/sandbox/build/ensure-programs.ts'
import { resolveSandboxPaths } from '../../../src/sandbox/sandbox-context.ts'
import { takeClusterSlot } from '../../cluster.ts'
import { testIo } from '../../io.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { tinyTable, writeTinyPin } from '../../tiny-pin.ts'
import { requireRoot, requireTool } from '../../tools.ts'

/** A disk that is too small at first. */
let disk: string
const mount = async (...options: string[]): Promise<void> => {
  const { exit, stderr } = await runProcess({ file: 'mount', args: [...options, 'tmpfs', disk] })
  if (!succeeded(exit)) throw new Error(stderr)
}
const enlarge = () => mount('-o', 'remount,size=1g')

let place: Awaited<ReturnType<typeof takeClusterSlot>>
beforeAll(async () => {
  place = await takeClusterSlot()
}, 600_000)
afterAll(() => place.release())

beforeEach(async (context) => {
  requireRoot(context)
  requireTool(context, 'go')
  disk = await mkdtemp(path.join(tmpdir(), 'stackloom-disk-'))
  await mount('-t', 'tmpfs', '-o', 'size=600k')
})
afterEach(async () => {
  await runProcess({ file: 'umount', args: [disk] })
  await rm(disk, { recursive: true, force: true })
})

describe('a full disk', { timeout: 120_000 }, () => {
  it('ends a start with one finding, and the next start recovers', async () => {
    const io = () => testIo({ env: { ...process.env, XDG_STATE_HOME: disk } })
    const start = ['sandbox', 'start', '--name', 'small', '--crd', 'none', '--no-netns']
    try {
      const full = io()
      expect(await main(start, full)).toBe(2)
      expect(full.err().match(/SL\d{4}/g)).toEqual(['SL1206'])
      await enlarge()
      expect(await main(start, io())).toBe(0)
    } finally {
      await main(['sandbox', 'reset', '--name', 'small'], io())
    }
  })

  it('ends a build with one finding, leaves nothing incomplete, and the next build recovers', async () => {
    const pins = await mkdtemp(path.join(tmpdir(), 'stackloom-pins-'))
    await writeTinyPin(pins)
    const places = { ...resolveSandboxPaths(process.env), pins, cache: disk }
    const build = () => ensurePins(['hello'], tinyTable, { ...sandboxContext(), paths: places, env: {} })
    const failed: unknown = await build().catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(Failure)
    expect((failed as Failure).findings.map(({ code }) => code)).toEqual(['SL1206'])
    expect(await readdir(path.join(disk, 'programs'))).toEqual([])
    await enlarge()
    const { hello } = await build()
    expect((await runProcess({ file: hello })).stdout).toBe('hello\n')
    await rm(pins, { recursive: true })
  })
})
