/** Builds two images of the operator that differ, as an update from one version to another does. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type BuiltImage, ensureImages } from '../../../src/sandbox/images/ensure-images.ts'
import { buildInto, packageVersion } from '../../../tools/build.ts'
import { sandboxContext } from '../../sandbox-context.ts'

export interface OperatorImages {
  readonly first: BuiltImage
  readonly second: BuiltImage
  readonly both: readonly BuiltImage[]
  readonly remove: () => void
}

export async function operatorImages(): Promise<OperatorImages> {
  const programFolder = mkdtempSync(path.join(tmpdir(), 'stackloom-program-'))
  for (const name of ['package.json', 'bin']) cpSync(name, path.join(programFolder, name), { recursive: true })
  await buildInto(path.join(programFolder, 'dist'), packageVersion())
  const build = async (version: string): Promise<BuiltImage> => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as object
    writeFileSync(path.join(programFolder, 'package.json'), JSON.stringify({ ...manifest, version }))
    const [image] = await ensureImages(['operator'], { ...sandboxContext(), programFolder })
    if (!image) throw new Error('there is no image')
    return image
  }
  const first = await build('0.0.1')
  const second = await build('0.0.2')
  const remove = (): void => rmSync(programFolder, { recursive: true, force: true })
  return { first, second, both: [first, second], remove }
}
