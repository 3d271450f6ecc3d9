/** Runs the commands of pages that need pods, OLM or cert-manager, in sandboxes that the pages themselves start. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { takeClusterSlot } from '../../cluster.ts'
import { isSoak, requireSoak } from '../../counts.ts'
import { buildForSandboxes, runInSandbox } from '../../doc-sandboxes.ts'
import { preparePods } from '../../pod-sandbox.ts'

vi.setConfig({ testTimeout: 3_600_000, hookTimeout: 3_600_000 })

// Short, because sockets of containerd are below it.
const folder = mkdtempSync(path.join(tmpdir(), 'sl-'))
let bin = ''
let refusal: string | undefined

beforeAll(async () => {
  if (!isSoak()) return
  refusal = await preparePods()
  bin = await buildForSandboxes(path.join(folder, 'program'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.for(['pods', 'olm', 'cert-manager'] as const)(
  'the commands of pages with the sandbox %s work',
  async (name, ctx) => {
    requireSoak(ctx)
    if (name === 'pods' && refusal !== undefined) ctx.skip(refusal)
    const place = await takeClusterSlot()
    try {
      expect(await runInSandbox(name, { bin, cwd: path.join(folder, name) })).toEqual([])
    } finally {
      await place.release()
    }
  },
)
