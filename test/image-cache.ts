/** A sandbox context whose cache has the built programs and no image, so that images are built again. */
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import type { SandboxContext } from '../src/sandbox/sandbox.ts'
import { sandboxContext } from './sandbox-context.ts'

/** The folder must be empty. */
export function contextWithoutImages(folder: string): SandboxContext {
  const { paths, ...rest } = sandboxContext()
  symlinkSync(path.join(paths.cache, 'programs'), path.join(folder, 'programs'))
  return { ...rest, paths: { ...paths, cache: folder } }
}
