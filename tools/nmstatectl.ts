/**
 * nmstatectl, the real judge of desired states: a Rust crate, installed once into the user's cache with cargo.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'

const VERSION = '2.2.62'

function folder(): string {
  return path.join(resolveSandboxPaths(process.env).cache, `nmstatectl-${VERSION}`)
}

/** Where it is, or will be. */
export function nmstatectlPath(): string {
  return path.join(folder(), 'bin', 'nmstatectl')
}

export function hasNmstatectl(): boolean {
  return existsSync(nmstatectlPath())
}

/** Takes some minutes the first time. False where there is no cargo, or the crate does not come. */
export function installNmstatectl(): boolean {
  if (hasNmstatectl()) return true
  console.log(`setup: building nmstatectl ${VERSION}, once, in some minutes`)
  const words = ['install', '--quiet', '--locked', '--root', folder(), `nmstatectl@${VERSION}`]
  const { status, error } = spawnSync('cargo', words, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) console.log(`setup: without nmstatectl: ${error ? 'cargo is not there' : 'cargo failed'}`)
  return status === 0
}
