/**
 * Where the sandbox keeps things: pins in the package, programs in the user's cache folder, sandboxes in the
 * user's state folder.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

export interface SandboxPaths {
  /** The `sandbox/` folder of the package: one folder per pin, and `crds.json`. */
  readonly pins: string
  /** May be deleted at any time: everything in it is made again. */
  readonly cache: string
  /** One folder per sandbox. */
  readonly sandboxes: string
}

type Env = Readonly<Record<string, string | undefined>>

export function resolveSandboxPaths(env: Env, from = import.meta.dirname): SandboxPaths {
  const home = env['HOME'] || homedir()
  const cache = absolutePath(env['XDG_CACHE_HOME']) ?? path.join(home, '.cache')
  const state = absolutePath(env['XDG_STATE_HOME']) ?? path.join(home, '.local', 'state')
  return {
    pins: findPinsFolder(from),
    cache: path.join(cache, 'stackloom'),
    sandboxes: path.join(state, 'stackloom', 'sandboxes'),
  }
}

/** The specification says that a relative path is to be ignored. */
function absolutePath(folder: string | undefined): string | undefined {
  return folder && path.isAbsolute(folder) ? folder : undefined
}

/** This file runs from `src/` and, bundled, from `dist/`: the pins are beside one of the folders above. */
function findPinsFolder(folder: string): string {
  const candidate = path.join(folder, 'sandbox')
  if (existsSync(path.join(candidate, 'crds.json'))) return candidate
  const above = path.dirname(folder)
  if (above === folder) throw new Error('the package has no sandbox/ folder')
  return findPinsFolder(above)
}
