/** Gives tests the path of nmstatectl, a Rust crate that validates desired states, and builds it in `make setup`. */
import { existsSync } from 'node:fs'
import { Failure } from '../src/errors/failure.ts'
import * as nmstatectl from '../src/rehearse/image/nmstatectl.ts'
import { sandboxContext } from '../test/sandbox-context.ts'

/** The path, whether it is installed or not. */
export function nmstatectlPath(): string {
  return nmstatectl.nmstatectlPath(sandboxContext().paths)
}

export function hasNmstatectl(): boolean {
  return existsSync(nmstatectlPath())
}

/** Takes some minutes the first time. Returns false if cargo is missing or fails. */
export async function installNmstatectl(): Promise<boolean> {
  if (hasNmstatectl()) return true
  console.log(`setup: building nmstatectl ${nmstatectl.NMSTATECTL_VERSION}; this takes some minutes once`)
  try {
    await nmstatectl.ensureNmstatectl(sandboxContext())
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    for (const { message } of error.findings) console.log(`setup: without nmstatectl: ${message}`)
    return false
  }
}
