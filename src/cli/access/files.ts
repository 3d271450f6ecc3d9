/** The files of `access`: for their owner's eyes alone, and with everything that was in them before. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Access } from '../../deploy/access.ts'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { readInput, writeOutput } from '../files.ts'
import type { Io } from '../io.ts'

export interface WrittenAccess {
  readonly clouds: string
  readonly ca?: string
}

export async function writeAccess(cloud: string, { entry, ca }: Access, out: string, io: Io): Promise<WrittenAccess> {
  const folder = path.resolve(io.cwd, out)
  await mkdir(folder, { recursive: true })
  const clouds = path.join(folder, 'clouds.yaml')
  const authority = ca === undefined ? undefined : path.join(folder, `${cloud}-ca.pem`)
  const text = await withCloud(clouds, cloud, { ...entry, ...(authority !== undefined && { cacert: authority }) }, io)
  if (authority !== undefined) await writeOutput(authority, ca ?? '', io, { replace: true, mode: 0o600 })
  await writeOutput(clouds, text, io, { replace: true, mode: 0o600 })
  return { clouds, ...(authority !== undefined && { ca: authority }) }
}

/** Other clouds of the file stay, comments included. */
async function withCloud(file: string, cloud: string, entry: object, io: Io): Promise<string> {
  const { writeYaml } = await import('../../yaml/write.ts')
  if (!existsSync(file)) return writeYaml({ clouds: { [cloud]: entry } })
  const { editYaml } = await import('../../yaml/edit.ts')
  const { readYaml } = await import('../../yaml/read.ts')
  const text = Buffer.from(await readInput(file, io)).toString('utf8')
  const { findings } = readYaml(text, file)
  if (hasErrors(findings)) throw new Failure(findings, 2)
  return editYaml(text, [{ path: ['clouds', cloud], value: entry }])
}
