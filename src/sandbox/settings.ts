/** What was decided about a sandbox at its first start, and is kept beside its data. */
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { failure, formatError } from '../errors/failure.ts'
import type { CrdSet } from './crds/names.ts'
import { badSandboxName, damagedState, unknownSandbox } from './findings.ts'
import { type SandboxFolder, sandboxFolder } from './folder.ts'
import type { SandboxPaths } from './sandbox-context.ts'

export interface Settings {
  readonly name: string
  readonly crds: CrdSet
  readonly netns: boolean
  /** Programs beside the API server and its store. */
  readonly parts: readonly Part[]
  readonly actors: readonly string[]
  /** Where the API server is reached from this machine; kept, so that copies of the kubeconfig stay good. */
  readonly port: number
}

export const parts = ['controller-manager', 'metallb', 'metallb-webhooks'] as const
export type Part = (typeof parts)[number]

export function locateSandbox(places: SandboxPaths, name: string): SandboxFolder {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) throw failure(badSandboxName, { name })
  return sandboxFolder(path.join(places.sandboxes, name))
}

export async function readSettings(folder: SandboxFolder): Promise<Settings | undefined> {
  const name = path.basename(folder.root)
  try {
    return JSON.parse(await readFile(folder.settings, 'utf8')) as Settings
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure(damagedState, { name, folder: folder.root, reason: formatError(error) }, { cause: error })
  }
}

export async function writeSettings(folder: SandboxFolder, settings: Settings): Promise<void> {
  await mkdir(folder.root, { recursive: true, mode: 0o700 })
  const aside = `${folder.settings}.new`
  await writeFile(aside, `${JSON.stringify(settings, null, 2)}\n`)
  await rename(aside, folder.settings)
}

export async function listSandboxNames(places: SandboxPaths): Promise<readonly string[]> {
  const names = await readdir(places.sandboxes).catch(() => [])
  const real = await Promise.all(
    names.map((name) =>
      stat(path.join(places.sandboxes, name, 'sandbox.json')).then(
        () => true,
        () => false,
      ),
    ),
  )
  return names.filter((_, index) => real[index]).sort()
}

/** The settings of a sandbox that must exist. */
export async function requireSettings(places: SandboxPaths, name: string): Promise<Settings> {
  const settings = await readSettings(locateSandbox(places, name))
  if (!settings) throw failure(unknownSandbox, { name, known: await listSandboxNames(places) })
  return settings
}
