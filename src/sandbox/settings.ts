/** Reads and writes the settings of a sandbox, which are set at its first start and kept beside its data. */
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { failure, formatError } from '../errors/failure.ts'
import { toWriteFailure } from './build/cache-folder.ts'
import { badSandboxName, damagedState, unknownSandbox } from './findings.ts'
import { type SandboxFolder, sandboxFolder } from './folder.ts'
import type { NodeRequest } from './nodes/node-layout.ts'
import type { SandboxPaths } from './sandbox-context.ts'

export const crdSets = ['today', '2023', 'own', 'own-2023', 'none'] as const

/** A set, a release (`18.0-fr6`), or the absolute path of a folder with CRDs. */
export type CrdSource = string

export interface Settings {
  readonly name: string
  readonly crds: CrdSource
  readonly netns: boolean
  /** Programs in addition to etcd and the API server. */
  readonly parts: readonly Part[]
  readonly actors: readonly string[]
  /** The nodes that run pods; absent in a sandbox without. */
  readonly pods?: { readonly nodes: readonly NodeRequest[] }
  /** Run OpenStack's services behind each control plane. */
  readonly openstack?: true
  /** The API port on this machine; kept, so that copies of the kubeconfig stay valid. */
  readonly port: number
  /** The last start has not ended, or not well: the next one begins again. */
  readonly unfinished?: true
}

/** Parts that every sandbox has. */
export const standardParts = ['controller-manager', 'metallb', 'metallb-webhooks'] as const
/** Parts that a start asks for; they listen on all interfaces, so the sandbox gets its own network. */
export const optionalParts = ['cert-manager', 'olm'] as const
export type OptionalPart = (typeof optionalParts)[number]
export type Part = (typeof standardParts)[number] | OptionalPart

export function locateSandbox(paths: SandboxPaths, name: string): SandboxFolder {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) throw failure(badSandboxName, { name })
  return sandboxFolder(path.join(paths.sandboxes, name))
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
  const temporary = `${folder.settings}.new`
  try {
    await mkdir(folder.root, { recursive: true, mode: 0o700 })
    await writeFile(temporary, `${JSON.stringify(settings, null, 2)}\n`)
    await rename(temporary, folder.settings)
  } catch (error) {
    throw toWriteFailure(error, folder.root, `starting sandbox ${settings.name}`)
  }
}

export async function listSandboxNames(paths: SandboxPaths): Promise<readonly string[]> {
  const names = await readdir(paths.sandboxes).catch(() => [])
  const isSandbox = await Promise.all(
    names.map((name) =>
      stat(path.join(paths.sandboxes, name, 'sandbox.json')).then(
        () => true,
        () => false,
      ),
    ),
  )
  return names.filter((_, index) => isSandbox[index]).sort()
}

/** Fails when the sandbox does not exist. */
export async function requireSettings(paths: SandboxPaths, name: string): Promise<Settings> {
  const settings = await readSettings(locateSandbox(paths, name))
  if (!settings) throw failure(unknownSandbox, { name, known: await listSandboxNames(paths) })
  return settings
}
