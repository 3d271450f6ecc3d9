/** Measures how long each image of the sandbox takes that is not in the cache. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureImages } from '../src/sandbox/images/ensure-images.ts'
import { imageNames } from '../src/sandbox/images/image-table.ts'
import { contextWithoutImages } from '../test/image-cache.ts'
import type { Measured } from '../tools/figure.ts'

/** Seconds of the slowest one. */
export async function measureSlowestImage(): Promise<Measured> {
  if (!existsSync('dist/entry.js')) return { unavailable: 'the program is not built' }
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  try {
    const context = contextWithoutImages(folder)
    let slowest = 0
    for (const name of imageNames) {
      const began = performance.now()
      await ensureImages([name], context)
      const seconds = (performance.now() - began) / 1000
      console.error(`# ${seconds.toFixed(1)} s ${name}`)
      slowest = Math.max(slowest, seconds)
    }
    return slowest
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
