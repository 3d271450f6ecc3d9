/** Builds images of the operator: of this program, and of the one before its last change, from which an update comes. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runProcess, succeeded } from '../../../src/exec/process.ts'
import { type BuiltImage, ensureImages } from '../../../src/sandbox/images/ensure-images.ts'
import { buildInto, packageVersion } from '../../../tools/build.ts'
import { sandboxContext } from '../../sandbox-context.ts'

/** This program, as version 0.0.2. */
export function operatorImage(): Promise<BuiltImage> {
  return buildImage('0.0.2', buildThis)
}

/** The program before the last commit that changed it, as version 0.0.1; undefined where the checkout has no such commit. */
export async function earlierOperatorImage(): Promise<BuiltImage | undefined> {
  const [commit] = (await run('git', ['rev-list', '-1', '--parents', 'HEAD', '--', ...PROGRAM_FILES]).catch(() => ''))
    .trim()
    .split(' ')
    .slice(1)
  return commit === undefined ? undefined : buildImage('0.0.1', (folder) => buildCommit(commit, folder))
}

/** Takes seconds and hundreds of megabytes the first time. */
async function buildImage(version: string, build: (folder: string) => Promise<void>): Promise<BuiltImage> {
  const programFolder = mkdtempSync(path.join(tmpdir(), 'stackloom-program-'))
  try {
    await build(programFolder)
    const file = path.join(programFolder, 'package.json')
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), version }))
    const [image] = await ensureImages(['operator'], { ...sandboxContext(), programFolder })
    if (!image) throw new Error('there is no image')
    return image
  } finally {
    rmSync(programFolder, { recursive: true, force: true })
  }
}

async function buildThis(folder: string): Promise<void> {
  // `make test` has built the program; without it, `dist` may be older than the sources.
  const isBuilt = Boolean(process.env['STACKLOOM_TEST_BUILT'])
  for (const name of ['package.json', 'bin', ...(isBuilt ? ['dist'] : [])])
    cpSync(name, path.join(folder, name), { recursive: true })
  if (!isBuilt) await buildInto(path.join(folder, 'dist'), packageVersion())
}

/** What the image has; a commit that changes only tests and pages gives the same program. */
const PROGRAM_FILES = ['src', 'data', 'playbooks', 'web', ':(exclude)*.test.ts']

/** Builds a commit with the packages of this one. */
async function buildCommit(commit: string, folder: string): Promise<void> {
  const archive = path.join(folder, 'commit.tar')
  await run('git', ['archive', '--output', archive, commit])
  await run('tar', ['-xf', archive, '-C', folder])
  // Links, because the build names packages by their folder below this one, and a copy would take long.
  await run('cp', ['-a', '--link', path.resolve('node_modules'), folder])
  await run(process.execPath, ['--import', 'tsx', 'tools/build.ts'], folder)
}

async function run(file: string, args: readonly string[], cwd?: string): Promise<string> {
  const { exit, stdout, stderr } = await runProcess({ file, args, ...(cwd !== undefined && { cwd }) })
  if (!succeeded(exit)) throw new Error(`${file} ${args.join(' ')}: ${stderr}`)
  return stdout
}
