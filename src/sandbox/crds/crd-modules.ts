/** Fetches the Go modules that contain upstream CRDs, verifies the pinned sums, and reads the CRD files. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { Failure, failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { describeExit, type Exec, lastLines } from '../../exec/process.ts'
import { toWriteFailure } from '../build/cache-folder.ts'
import { goMissing, moduleUnavailable, wrongModuleSum } from '../findings.ts'

export interface CrdModule {
  readonly module: string
  readonly version: string
  readonly sum: string
  /** A path inside the module; `*` matches within one path element. */
  readonly files: string
  readonly sets: readonly string[]
}

export interface CrdPins {
  readonly modules: readonly CrdModule[]
}

export interface CrdFile {
  readonly from: CrdModule
  readonly file: string
  readonly text: string
}

interface Download {
  readonly Path: string
  readonly Version: string
  readonly Sum?: string
  readonly Dir?: string
  readonly Error?: string
}

export async function readPins(folder: string): Promise<CrdPins> {
  return JSON.parse(await readFile(path.join(folder, 'crds.json'), 'utf8')) as CrdPins
}

/** Reads every file that the pins match. `scratch` is a folder for temporary downloads. */
export async function fetchCrdFiles(
  pins: CrdPins,
  scratch: string,
  exec: Exec,
  signal?: AbortSignal,
): Promise<readonly CrdFile[]> {
  const folder = await mkdtemp(path.join(scratch, '.modules-')).catch((error: unknown) => {
    throw toWriteFailure(error, scratch, 'fetching CRDs')
  })
  try {
    const downloads = await download(pins.modules, folder, exec, signal)
    const texts = await Promise.all(downloads.map(([module, dir]) => readCrdFiles(module, dir)))
    return texts.flat()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function download(
  modules: readonly CrdModule[],
  folder: string,
  exec: Exec,
  signal?: AbortSignal,
): Promise<readonly (readonly [CrdModule, string])[]> {
  const { stdout, stderr, exit } = await exec(
    {
      file: 'go',
      args: ['mod', 'download', '-json', ...modules.map(moduleVersion)],
      cwd: folder,
      env: {
        // A separate module cache, so that a damaged download is removed with the folder.
        GOMODCACHE: path.join(folder, 'mod'),
        GOFLAGS: '-modcacherw',
        GOWORK: 'off',
        // The pins contain the sums; some of these modules are not in the public database.
        GONOSUMDB: '*',
        GONOSUMCHECK: '1',
        GOSUMDB: 'off',
      },
    },
    signal ? { signal } : {},
  )
  if (exit.kind === 'not-started') {
    throw failure(goMissing, { needed: ['the CRD modules'], reason: exit.reason })
  }
  const answers = new Map(parseJsonStream(stdout).map((download) => [`${download.Path}@${download.Version}`, download]))
  const findings: Finding[] = []
  const found: (readonly [CrdModule, string])[] = []
  for (const module of modules) {
    const answer = answers.get(moduleVersion(module))
    const { Sum: actual, Dir: dir } = answer ?? {}
    if (!actual || !dir) {
      const reason = answer?.Error ?? (lastLines(stderr, 1) || describeExit(exit))
      findings.push(finding(moduleUnavailable, { module: moduleVersion(module), reason }))
    } else if (actual !== module.sum) {
      findings.push(finding(wrongModuleSum, { module: moduleVersion(module), expected: module.sum, actual }))
    } else {
      found.push([module, dir])
    }
  }
  if (findings.length > 0) throw new Failure(findings)
  return found
}

function moduleVersion({ module, version }: CrdModule): string {
  return `${module}@${version}`
}

/** `go mod download -json` prints a sequence of objects, each closed by a brace in the first column. */
function parseJsonStream(text: string): readonly Download[] {
  return text
    .split(/^}$/m)
    .filter((part) => part.trim())
    .map((part) => JSON.parse(`${part}}`) as Download)
}

async function readCrdFiles(module: CrdModule, dir: string): Promise<readonly CrdFile[]> {
  const files = await matchFiles(dir, module.files.split('/'))
  return Promise.all(
    files.map(async (file) => ({ from: module, file, text: await readFile(path.join(dir, file), 'utf8') })),
  )
}

async function matchFiles(dir: string, [pattern, ...rest]: readonly string[]): Promise<readonly string[]> {
  if (pattern === undefined) return ['']
  const expression = new RegExp(`^${pattern.split('*').map(escapeRegExp).join('.*')}$`)
  const names = (await readdir(dir)).filter((name) => expression.test(name)).sort()
  const below = await Promise.all(
    names.map(async (name) => (await matchFiles(path.join(dir, name), rest)).map((found) => path.join(name, found))),
  )
  return below.flat()
}

function escapeRegExp(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
}
