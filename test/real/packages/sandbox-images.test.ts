/** Builds every image of the sandbox twice, from nothing: both must be the same. */
import { existsSync, mkdtempSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../../src/errors/failure.ts'
import { type BuiltImage, ensureImages } from '../../../src/sandbox/images/ensure-images.ts'
import { packagesMissing } from '../../../src/sandbox/images/findings.ts'
import { type ImageName, imageNames } from '../../../src/sandbox/images/image-table.ts'
import { requireSoak } from '../../counts.ts'
import { useFolder } from '../../folder.ts'
import { contextWithoutImages } from '../../image-cache.ts'

const folder = useFolder()
/** The larger ones. */
const soakOnly: ReadonlySet<ImageName> = new Set(['operator', 'ansible-runner'])

async function build(name: ImageName): Promise<BuiltImage | { readonly obstacle: string }> {
  if (name === 'operator' && !existsSync('dist/entry.js')) return { obstacle: 'the program is not built: make build' }
  try {
    const [image] = await ensureImages([name], contextWithoutImages(mkdtempSync(path.join(folder, `${name}-`))))
    if (!image) throw new Error('there is no image')
    return image
  } catch (error) {
    const [problem] = error instanceof Failure ? error.findings : []
    if (problem?.code !== packagesMissing.code) throw error
    return { obstacle: problem.message }
  }
}

describe('the images of the sandbox', () => {
  for (const name of imageNames) {
    it(`have the same digest when they are built again: ${name}`, { timeout: 600_000 }, async (context) => {
      if (soakOnly.has(name)) requireSoak(context)
      const first = await build(name)
      if ('obstacle' in first) return context.skip(first.obstacle)
      const { archive, ...second } = (await build(name)) as BuiltImage
      expect(archive).not.toBe(first.archive)
      expect({ ...second, archive: first.archive }).toEqual(first)
    })
  }
})
