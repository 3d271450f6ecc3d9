/** Runs the commands of pages that need a cluster in sandboxes that the pages themselves start. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runProcess } from '../../../src/exec/process.ts'
import { findNamespaceProblem } from '../../../src/sandbox/launch.ts'
import { takeClusterSlot } from '../../cluster.ts'
import { buildForSandboxes, runInSandbox } from '../../doc-sandboxes.ts'
import { requireTool } from '../../tools.ts'

// Dozens of commands in one shell: minutes beside other work.
vi.setConfig({ testTimeout: 3_600_000, hookTimeout: 900_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-docs-'))
let bin = ''

beforeAll(async () => {
  bin = await buildForSandboxes(path.join(folder, 'program'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.for(['guide', 'dns', 'operator', 'default'] as const)(
  'the commands of pages with the sandbox %s print what they show',
  async (name, ctx) => {
    const refusal = await findNamespaceProblem(runProcess)
    if (refusal !== undefined) ctx.skip(`no network namespace can be made here: ${refusal}`)
    if (name === 'guide') requireTool(ctx, 'age-keygen')
    const place = await takeClusterSlot()
    try {
      expect(await runInSandbox(name, { bin, cwd: path.join(folder, name) })).toEqual([])
    } finally {
      await place.release()
    }
  },
)
