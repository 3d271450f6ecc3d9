/**
 * Compiles the programs of one pin, with true progress: packages compiled of packages known.
 *
 * `go list -deps` knows all packages and which of them the build cache already has; `go build -v` names each
 * one that it compiles. Go's build cache makes an interrupted build resumable.
 */
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, type ProcessResult, succeeded } from '../../exec/process.ts'
import { buildFailed, buildInterrupted, diskFull } from '../findings.ts'
import type { Notify } from '../notes.ts'
import type { ProgramPin } from '../programs.ts'
import { mentionsDiskFull } from './cache-folder.ts'
import { buildFlags, goEnv, linkerFlags } from './go.ts'

export interface Compilation {
  /** Names as the user knows them. */
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
  const text = `compiling ${names.join(', ')}: packages`
  const options = signal ? { signal } : {}
  let fetched = 0
  const listed = await exec(
    {
      file: 'go',
      args: ['list', '-deps', ...buildFlags, '-f', '{{.Stale}} {{.StaleReason}}', ...packages],
      cwd,
      env: goEnv,
    },
    {
      ...options,
      onLine: (line, stream) => {
        if (stream === 'stderr' && line.startsWith('go: downloading')) {
          fetched += 1
          notify({
            kind: 'progress',
            text: `fetching the sources of ${names.join(', ')}: modules`,
            done: fetched,
          })
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
      args: ['build', ...buildFlags, '-v', '-ldflags', flags, '-o', `${into}/`, ...packages],
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

/** A program that was never put anywhere counts as stale, though the cache has it. */
function isCompiled(line: string): boolean {
  return line.startsWith('false') || line.endsWith('available in build cache')
}

function throwOnFailure(finished: ProcessResult, programs: readonly string[], folder: string): void {
  const { exit, stderr } = finished
  if (succeeded(exit)) return
  if (exit.kind === 'cancelled') throw failure(buildInterrupted, { programs }, { exitCode: 130 })
  if (mentionsDiskFull(stderr)) throw failure(diskFull, { folder, doing: `building ${programs.join(', ')}` })
  const said = stderr
    .split('\n')
    // The names of compiled packages are not the reason.
    .filter((line) => line.includes(' '))
    .join('\n')
  throw failure(buildFailed, { programs, reason: lastLines(said) || describeExit(exit) })
}
