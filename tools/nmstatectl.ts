/** Installs nmstatectl, a Rust crate that validates desired states, into the user's cache with cargo. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nmstatectl from '../src/rehearse/image/nmstatectl.ts'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'

/** The path, whether it is installed or not. */
export function nmstatectlPath(): string {
  return nmstatectl.nmstatectlPath(resolveSandboxPaths(process.env))
}

export function hasNmstatectl(): boolean {
  return existsSync(nmstatectlPath())
}

/** Takes some minutes the first time. Returns false if cargo is missing or fails. */
export function installNmstatectl(): boolean {
  if (hasNmstatectl()) return true
  console.log(`setup: building nmstatectl ${nmstatectl.NMSTATECTL_VERSION}; this takes some minutes once`)
  const args = ['--quiet', ...nmstatectl.installArgs(resolveSandboxPaths(process.env))]
  const { status, error } = spawnSync('cargo', args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) console.log(`setup: without nmstatectl: ${error ? 'cargo is not installed' : 'cargo failed'}`)
  return status === 0
}
