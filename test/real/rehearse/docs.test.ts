/** Runs the commands of the guide to rehearsals, with virtual machines. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { requireSoak } from '../../counts.ts'
import { buildForSandboxes, runInSandbox } from '../../doc-sandboxes.ts'
import { requireRehearsal } from './prepared.ts'

it('the commands of the guide to rehearsals work', { timeout: 7_200_000 }, async (ctx) => {
  requireSoak(ctx)
  await requireRehearsal(ctx)
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-docs-'))
  try {
    const bin = await buildForSandboxes(path.join(folder, 'program'))
    expect(await runInSandbox('rehearse', { bin, cwd: path.join(folder, 'rehearse') })).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
