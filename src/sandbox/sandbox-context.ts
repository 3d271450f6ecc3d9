/** Defines what the sandbox needs from its caller: folders, progress notices, and the command that starts this program. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { isSea } from 'node:sea'
import { pathToFileURL } from 'node:url'
import type { Finding } from '../errors/finding.ts'

export type Notice =
  /** Sent once, before a long step. */
  | { readonly kind: 'announcement'; readonly text: string }
  /** Sent often; only the newest matters. */
  | { readonly kind: 'progress'; readonly text: string; readonly done?: number; readonly total?: number }
  | { readonly kind: 'finding'; readonly finding: Finding }

export type Notify = (notice: Notice) => void

export interface SandboxPaths {
  /** The `sandbox/` folder of the package: one folder per pin, and `crds.json`. */
  readonly pins: string
  /** May be deleted at any time: everything in it can be created again. */
  readonly cache: string
  /** One folder per sandbox. */
  readonly sandboxes: string
  /** One folder with CRDs per release; only the user puts something there. */
  readonly releases: string
}

type Env = Readonly<Record<string, string | undefined>>

export function resolveSandboxPaths(env: Env, from = import.meta.dirname): SandboxPaths {
  const home = env['HOME'] || homedir()
  const cache = absolutePath(env['XDG_CACHE_HOME']) ?? path.join(home, '.cache')
  const state = absolutePath(env['XDG_STATE_HOME']) ?? path.join(home, '.local', 'state')
  const data = absolutePath(env['XDG_DATA_HOME']) ?? path.join(home, '.local', 'share')
  return {
    pins: findPinsFolder(from),
    cache: path.join(cache, 'stackloom'),
    sandboxes: path.join(state, 'stackloom', 'sandboxes'),
    releases: path.join(data, 'stackloom', 'crds'),
  }
}

/** The XDG specification requires that relative paths are ignored. */
function absolutePath(folder: string | undefined): string | undefined {
  return folder && path.isAbsolute(folder) ? folder : undefined
}

/** This file runs from `src/` and, bundled, from `dist/`: the pins are beside one of the parent folders. */
function findPinsFolder(folder: string): string {
  const candidate = path.join(folder, 'sandbox')
  if (existsSync(path.join(candidate, 'crds.json'))) return candidate
  const parent = path.dirname(folder)
  if (parent === folder) throw new Error('the package has no sandbox/ folder')
  return findPinsFolder(parent)
}

/** The command that starts this program as another process: the executable, the bundle, or a checkout through tsx. */
export function selfCommand(folder = import.meta.dirname): readonly string[] {
  if (isSea()) return [process.execPath]
  const bundled = path.join(folder, 'entry.js')
  if (existsSync(bundled)) return [process.execPath, bundled]
  const source = path.resolve(folder, '..', 'cli', 'entry.ts')
  const loader = createRequire(import.meta.filename).resolve('tsx')
  return [process.execPath, '--import', pathToFileURL(loader).href, source]
}
