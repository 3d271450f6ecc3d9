/** Builds images of the operator: of this program, and of the commit before it, from which an update comes. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** The program of the commit before, as version 0.0.1; this program where there is no such commit, or it does not build here. */
export function earlierOperatorImage(): Promise<BuiltImage> {
  return buildImage('0.0.1', async (folder) => {
    const problem = await buildEarlier(folder)
    if (problem === undefined) return
    console.log(`the update is from the same program: ${problem}`)
    rmSync(folder, { recursive: true })
    mkdirSync(folder)
    await buildThis(folder)
  })
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
  for (const name of ['package.json', 'bin']) cpSync(name, path.join(folder, name), { recursive: true })
  await buildInto(path.join(folder, 'dist'), packageVersion())
}

/** Builds the commit before with the packages of this one; returns why it cannot. */
async function buildEarlier(folder: string): Promise<string | undefined> {
  const archive = path.join(folder, 'commit.tar')
  const steps = [
    { file: 'git', args: ['archive', '--output', archive, 'HEAD~1'] },
    { file: 'tar', args: ['-xf', archive, '-C', folder] },
    // Links, because the build names packages by their folder below this one, and a copy would take long.
    { file: 'cp', args: ['-a', '--link', path.resolve('node_modules'), folder] },
    { file: process.execPath, args: ['--import', 'tsx', 'tools/build.ts'], cwd: folder },
  ]
  for (const step of steps) {
    const { exit, stderr } = await runProcess(step)
    if (!succeeded(exit)) return stderr.split('\n').find((line) => /error|fatal|cannot/i.test(line)) ?? step.file
  }
  return undefined
}
