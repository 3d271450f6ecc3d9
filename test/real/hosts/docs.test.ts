/** Runs the commands of pages about a real OpenStack on this machine, from `init` to a token in a sandbox that they start. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { takeClusterSlot } from '../../cluster.ts'
import { requireSoak } from '../../counts.ts'
import { buildForSandboxes, runInSandbox } from '../../doc-sandboxes.ts'
import { prepareRootFileSystem } from '../../hosts.ts'

it('the commands of pages with the sandbox openstack work', { timeout: 3_600_000 }, async (ctx) => {
  requireSoak(ctx)
  const prepared = await prepareRootFileSystem()
  if ('refusal' in prepared) ctx.skip(prepared.refusal)
  const folder = mkdtempSync(path.join(tmpdir(), 'sl-'))
  const place = await takeClusterSlot()
  try {
    const bin = await buildForSandboxes(path.join(folder, 'program'))
    expect(await runInSandbox('openstack', { bin, cwd: path.join(folder, 'openstack') })).toEqual([])
  } finally {
    await place.release()
    rmSync(folder, { recursive: true, force: true })
  }
})
