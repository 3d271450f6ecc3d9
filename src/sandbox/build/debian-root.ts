/** Runs mmdebstrap for images and root file systems: sources of packages, arguments, progress and errors of a build step. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Failure, failure } from '../../errors/failure.ts'
import { describeExit, type Exec, lastLines, type Program, succeeded } from '../../exec/process.ts'
import { diskFull } from '../findings.ts'
import type { Notify } from '../sandbox-context.ts'
import { mentionsDiskFull } from './cache-folder.ts'

export interface DebianSources {
  /** Debian's release: `bookworm`. */
  readonly suite: string
  /** Files with sources for apt; none means mmdebstrap's default. */
  readonly sources: readonly string[]
}

export interface SourcesFile {
  readonly path: string
  readonly text: string
}

const DEFAULT_SUITE = 'bookworm'

/** On Debian the sources of this machine, which it can reach; elsewhere the default of mmdebstrap. */
export function chooseSources(osRelease: string, files: readonly SourcesFile[]): DebianSources {
  const setting = (key: string): string | undefined => new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm').exec(osRelease)?.[1]
  const suite = setting('VERSION_CODENAME')
  if (setting('ID') !== 'debian' || suite === undefined) return { suite: DEFAULT_SUITE, sources: [] }
  const listed = new RegExp(`^[^#\\n]*\\b${suite}\\b`, 'm')
  return { suite, sources: files.filter(({ text }) => listed.test(text)).map(({ path }) => path) }
}

export async function readDebianSources(): Promise<DebianSources> {
  const folder = '/etc/apt/sources.list.d'
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => /\.(list|sources)$/.test(name))
  const paths = ['/etc/apt/sources.list', ...names.map((name) => path.join(folder, name))]
  const files = await Promise.all(
    paths.map(async (file) => ({ path: file, text: await readFile(file, 'utf8').catch(() => '') })),
  )
  return chooseSources(
    await readFile('/etc/os-release', 'utf8').catch(() => ''),
    files.filter(({ text }) => text !== ''),
  )
}

export interface DebianRoot extends DebianSources {
  readonly packages: readonly string[]
  /** Further options, such as hooks; mmdebstrap passes the root folder as the first argument to a hook. */
  readonly options: readonly string[]
  /** The folder to create. */
  readonly root: string
}

/** Root on this machine: mmdebstrap mounts file systems in the root folder, so it runs in a mount namespace that ends with it. */
export function mmdebstrapArgs({ suite, sources, packages, options, root }: DebianRoot): readonly string[] {
  return [
    '--mode=root',
    '--variant=minbase',
    '--format=directory',
    `--include=${packages.join(',')}`,
    ...options,
    suite,
    root,
    ...sources,
  ]
}

export interface BuildStep {
  readonly exec: Exec
  readonly program: Program
  /** What the step does, as progress. */
  readonly text: string
  /** The folder that may be full. */
  readonly folder: string
  readonly notify: Notify
  readonly signal?: AbortSignal | undefined
  readonly onFailure: (reason: string) => Failure
}

/** Runs one program of a build; mmdebstrap's lines are its progress. */
export async function runBuildStep(step: BuildStep): Promise<void> {
  const { exec, program, text, folder, notify, signal, onFailure } = step
  notify({ kind: 'progress', text })
  const onLine = (line: string): void => {
    if (line.startsWith('I: ')) notify({ kind: 'progress', text: `${text}: ${line.slice(3, 120)}` })
  }
  const { exit, stderr } = await exec(program, { ...(signal && { signal }), onLine })
  if (succeeded(exit)) return
  signal?.throwIfAborted()
  if (mentionsDiskFull(stderr)) throw failure(diskFull, { folder, doing: text })
  throw onFailure(lastLines(stderr) || describeExit(exit))
}
