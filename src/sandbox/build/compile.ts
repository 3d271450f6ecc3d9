/**
 * Compiles the programs of one pin with the Go toolchain and reports progress in packages: `go list -deps` shows which
 * packages the build cache already has, `go build -v` prints each one that it compiles.
 */
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, type ProcessResult, succeeded } from '../../exec/process.ts'
import { buildFailed, buildInterrupted, diskFull } from '../findings.ts'
import type { ProgramPin } from '../programs.ts'
import type { Notify } from '../sandbox-context.ts'
import { mentionsDiskFull } from './cache-folder.ts'

export interface Compilation {
  readonly names: readonly string[]
  readonly pins: readonly ProgramPin[]
  readonly pinFolder: string
  readonly into: string
}

export interface CompileContext {
  readonly exec: Exec
  readonly notify: Notify
  readonly signal?: AbortSignal | undefined
}

export async function compile(work: Compilation, { exec, notify, signal }: CompileContext): Promise<void> {
  const { names, pins, pinFolder: cwd, into } = work
  const packages = pins.map((pin) => pin.package)
  const tags = ['-tags', [...new Set(pins.flatMap((pin) => pin.tags ?? []))].join(',')]
  const text = `compiling ${names.join(', ')}: packages`
  const options = signal ? { signal } : {}
  let fetched = 0
  const listed = await exec(
    {
      file: 'go',
      args: ['list', '-deps', ...buildFlags, ...tags, '-f', '{{.Stale}} {{.StaleReason}}', ...packages],
      cwd,
      env: goEnv,
    },
    {
      ...options,
      onLine: (line, stream) => {
        if (stream === 'stderr' && line.startsWith('go: downloading')) {
          fetched += 1
          notify({ kind: 'progress', text: `fetching the sources of ${names.join(', ')}: modules`, done: fetched })
        }
      },
    },
  )
  throwOnFailure(listed, names, into)
  const known = listed.stdout.trimEnd().split('\n')
  const total = known.length
  let done = known.filter(isCompiled).length
  notify({ kind: 'progress', text, done, total })
  const flags = [linkerFlags, ...new Set(pins.map((pin) => pin.ldflags ?? ''))].join(' ').trim()
  const built = await exec(
    {
      file: 'go',
      args: ['build', ...buildFlags, ...tags, '-v', '-ldflags', flags, '-o', `${into}/`, ...packages],
      cwd,
      env: goEnv,
    },
    {
      ...options,
      onLine: (line) => {
        if (!/^[\w.~-]+(\/[\w.~-]+)*$/.test(line)) return
        done = Math.min(done + 1, total)
        notify({ kind: 'progress', text, done, total })
      },
    },
  )
  throwOnFailure(built, names, into)
}

/** `go list` reports a program without a target as stale although the cache has it. */
function isCompiled(line: string): boolean {
  return line.startsWith('false') || line.endsWith('available in build cache')
}

function throwOnFailure(finished: ProcessResult, programs: readonly string[], folder: string): void {
  const { exit, stderr } = finished
  if (succeeded(exit)) return
  if (exit.kind === 'cancelled') throw failure(buildInterrupted, { programs }, { exitCode: 130 })
  if (mentionsDiskFull(stderr)) throw failure(diskFull, { folder, doing: `building ${programs.join(', ')}` })
  const messages = stderr
    .split('\n')
    // Lines without a space are names of compiled packages.
    .filter((line) => line.includes(' '))
    .join('\n')
  throw failure(buildFailed, { programs, reason: lastLines(messages) || describeExit(exit) })
}

export interface Toolchain {
  /** `go1.26.8`: part of the key of everything that it builds. */
  readonly version: string
  /** `linux-amd64`. */
  readonly platform: string
}

/** Overrides user settings that would change the result; the user's proxies and caches are used. */
const goEnv: Readonly<Record<string, string>> = { GOFLAGS: '-buildvcs=false', GOWORK: 'off' }

/** Keeps paths of this machine out of the programs. */
const buildFlags: readonly string[] = ['-mod=readonly', '-trimpath']

export const linkerFlags = '-s -w'

/** Runs in the folder of a pin, because its go.mod may select a newer toolchain than the one in PATH. */
export async function findToolchain(exec: Exec, folder: string): Promise<Toolchain | { readonly missing: string }> {
  const result = await exec({ file: 'go', args: ['env', 'GOVERSION', 'GOOS', 'GOARCH'], cwd: folder, env: goEnv })
  if (!succeeded(result.exit)) {
    return { missing: result.stderr.trim() || describeExit(result.exit) }
  }
  const [version = '', system = '', architecture = ''] = result.stdout.trim().split('\n')
  return { version, platform: `${system}-${architecture}` }
}
