/** Writes the JSON Schema beside a new file, so that editors complete and check it. */
import path from 'node:path'
import { writeOutput } from '../files.ts'
import type { Io } from '../io.ts'
import { serialise } from '../output/format.ts'
import type { FileKind } from './file-schemas.ts'

/** `site.schema.json` beside `site.yaml`; undefined for stdout. */
export function schemaFileName(file: string): string | undefined {
  return file === '-' ? undefined : `${path.parse(file).name}.schema.json`
}

/** Generated, so an older one is replaced. */
export async function writeSchema(kind: FileKind, file: string, io: Io): Promise<void> {
  const { fileSchema } = await import('./file-schemas.ts')
  await writeOutput(file, await serialise(await fileSchema(kind), 'json'), io, { replace: true })
  io.stderr(`${file} is written, for editors\n`)
}
