/** Installs nmstatectl, a Rust crate that validates desired states, into the user's cache with cargo. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'

const VERSION = '2.2.62'

function installFolder(): string {
  return path.join(resolveSandboxPaths(process.env).cache, `nmstatectl-${VERSION}`)
}

/** The path, whether it is installed or not. */
export function nmstatectlPath(): string {
  return path.join(installFolder(), 'bin', 'nmstatectl')
}

export function hasNmstatectl(): boolean {
  return existsSync(nmstatectlPath())
}

/** Takes some minutes the first time. Returns false if cargo is missing or fails. */
export function installNmstatectl(): boolean {
  if (hasNmstatectl()) return true
  console.log(`setup: building nmstatectl ${VERSION}; this takes some minutes once`)
  const args = ['install', '--quiet', '--locked', '--root', installFolder(), `nmstatectl@${VERSION}`]
  const { status, error } = spawnSync('cargo', args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) console.log(`setup: without nmstatectl: ${error ? 'cargo is not installed' : 'cargo failed'}`)
  return status === 0
}
