/** Runs the commands of pages that need a cluster in sandboxes that the pages themselves start. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runProcess } from '../../../src/exec/process.ts'
import { findNamespaceProblem } from '../../../src/sandbox/launch.ts'
import { takeClusterSlot } from '../../cluster.ts'
import { requireSoak } from '../../counts.ts'
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

it.for(['guide', 'dns', 'operator', 'default', 'dataplane', 'installed', 'deployed'] as const)(
  'the commands of pages with the sandbox %s print what they show',
  async (name, ctx) => {
    if (name === 'deployed') requireSoak(ctx)
    const refusal = await findNamespaceProblem(runProcess)
    if (refusal !== undefined) ctx.skip(`no network namespace can be made here: ${refusal}`)
    if (name === 'guide') requireTool(ctx, 'age-keygen')
    if (name === 'dataplane') requireTool(ctx, 'sshd')
    const place = await takeClusterSlot()
    try {
      const prepare = (cwd: string): void => {
        if (name === 'dataplane') copyFileSync('test/samples/data-plane.yaml', path.join(cwd, 'data-plane.yaml'))
      }
      expect(await runInSandbox(name, { bin, cwd: path.join(folder, name), prepare, isIsolated: true })).toEqual([])
    } finally {
      await place.release()
    }
  },
)
