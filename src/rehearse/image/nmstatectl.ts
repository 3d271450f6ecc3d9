/** Builds nmstatectl, a Rust crate, into the user's cache with cargo. Debian has no package of it. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import type { BuildContext } from '../../sandbox/build/ensure-programs.ts'
import { acquireLock } from '../../sandbox/process-lock.ts'
import type { SandboxPaths } from '../../sandbox/sandbox-context.ts'
import { partFailed } from '../findings.ts'

export const NMSTATECTL_VERSION = '2.2.62'

/** The path, whether it is installed or not. */
export function nmstatectlPath(paths: SandboxPaths): string {
  return path.join(installFolder(paths), 'bin', 'nmstatectl')
}

function installFolder({ cache }: SandboxPaths): string {
  return path.join(cache, `nmstatectl-${NMSTATECTL_VERSION}`)
}

/** Arguments of cargo. */
function installArgs(paths: SandboxPaths): readonly string[] {
  return ['install', '--locked', '--root', installFolder(paths), `nmstatectl@${NMSTATECTL_VERSION}`]
}

/** Takes some minutes the first time. */
export async function ensureNmstatectl({ paths, exec, notify, signal }: BuildContext): Promise<string> {
  const file = nmstatectlPath(paths)
  if (existsSync(file)) return file
  const lock = await acquireLock([`cache ${file}`], { ...(signal && { signal }) })
  try {
    if (existsSync(file)) return file
    const text = `building nmstatectl ${NMSTATECTL_VERSION} with cargo`
    const { exit, stderr } = await exec(
      { file: 'cargo', args: installArgs(paths) },
      { ...(signal && { signal }), onLine: (line) => notify({ kind: 'progress', text: `${text}: ${line.trim()}` }) },
    )
    if (!succeeded(exit)) {
      throw failure(partFailed, { part: 'nmstatectl', reason: lastLines(stderr) || describeExit(exit) })
    }
    return file
  } finally {
    await lock.release()
  }
}
