/** Judges the manifest of the kubectl plugin by krew's own validation. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it, type TestContext, vi } from 'vitest'
import { executablePlatforms, type Platform } from '../../../tools/release-executable.ts'
import { krewManifest } from '../../../tools/release-files.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'

vi.setConfig({ testTimeout: 180_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-krew-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest = (version: string, platforms: readonly Platform[]): string =>
  krewManifest(
    version,
    platforms.map((platform) => ({
      platform,
      url: `https://example.org/stackloom-${platform}.tar.gz`,
      sha256: 'ab'.repeat(32),
    })),
  )

async function validate(ctx: TestContext, text: string): Promise<{ status: number | null; stderr: string }> {
  const program =
    (await findTestProgram('validate-krew-manifest')) ??
    ctx.skip('krew is not built; `make test SUITE=packages` builds it')
  // krew takes the name of the plugin from the name of the file.
  const file = path.join(folder, 'stackloom.yaml')
  writeFileSync(file, text)
  return spawnSync(program, ['-manifest', file, '-skip-install'], { encoding: 'utf8' })
}

describe('the manifest for krew', () => {
  it('passes its validation with all platforms', async (ctx) => {
    const { status, stderr } = await validate(ctx, manifest('9.8.7', executablePlatforms))
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('structural validation OK') })
  })

  it.for([
    ['a version that is not semantic', manifest('9.8', executablePlatforms), 'version'],
    ['one platform twice', manifest('9.8.7', ['linux-x64', 'linux-x64']), 'overlapping'],
    ['no platform', manifest('9.8.7', []), 'platform'],
  ] as const)('is refused by the same validation with %s', async ([, text, reason], ctx) => {
    const { status, stderr } = await validate(ctx, text)
    expect(status).not.toBe(0)
    expect(stderr).toContain(reason)
  })
})
