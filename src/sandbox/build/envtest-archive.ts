/**
 * Downloads the API server and etcd as the official envtest archive, by its pinned checksum, where the user allows it.
 *
 * A download that fails is a warning: the programs are then built from their sources.
 */
import { createHash } from 'node:crypto'
import { access, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { formatError } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import { archiveUnusable } from '../findings.ts'
import { ensureFolder, publishFolder } from './cache-folder.ts'
import type { BuildContext } from './ensure-programs.ts'

export interface EnvtestArchive {
  readonly version: string
  readonly platform: string
  readonly url: string
  /** SHA-512 as controller-tools publishes it, in hex. */
  readonly sha512: string
}

interface EnvtestPins {
  readonly version: string
  readonly url: string
  readonly sha512: Readonly<Record<string, string>>
}

/** Longest time without a byte. */
const STALL_MS = 20_000

/** The archive has about 70 MB. */
const MAX_BYTES = 500_000_000

/**
 * The archive of this machine's platform, if `STACKLOOM_ENVTEST` allows it: `official`, or the address of a folder that has
 * the same file. The checksum is pinned, so a mirror needs no trust.
 */
export async function selectArchive({ paths, env }: BuildContext): Promise<EnvtestArchive | undefined> {
  const source = env['STACKLOOM_ENVTEST']
  if (!source) return undefined
  const pins = JSON.parse(await readFile(path.join(paths.pins, 'envtest.json'), 'utf8')) as EnvtestPins
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const sha512 = pins.sha512[platform]
  if (sha512 === undefined) return undefined
  const folder = source === 'official' ? pins.url : source.replace(/\/*$/, '/')
  const url = `${folder}envtest-v${pins.version}-${platform}.tar.gz`
  return { version: pins.version, platform, url, sha512 }
}

/** The folder with the programs; undefined where the archive cannot be had, which is reported. */
export async function ensureArchive(
  archive: EnvtestArchive,
  context: BuildContext,
  stallMs = STALL_MS,
): Promise<string | undefined> {
  const { version, platform, sha512 } = archive
  const folder = path.join(context.paths.cache, 'programs', `envtest-${version}-${platform}-${sha512.slice(0, 16)}`)
  const { notify, signal } = context
  try {
    return await ensureFolder(
      folder,
      { what: `envtest ${version}`, waiting: 'waiting for another process that downloads envtest', notify, signal },
      () => publishFolder(folder, (temporary) => downloadInto(temporary, archive, context, stallMs)),
    )
  } catch (error) {
    if (signal?.aborted) throw error
    notify({ kind: 'finding', finding: finding(archiveUnusable, { url: archive.url, reason: formatError(error) }) })
    return undefined
  }
}

async function downloadInto(
  folder: string,
  { url, sha512, version }: EnvtestArchive,
  { exec, notify, signal }: BuildContext,
  stallMs: number,
): Promise<void> {
  notify({ kind: 'announcement', text: `Downloading the API server and etcd ${version} from ${url}` })
  const file = path.join(folder, 'archive.tar.gz')
  const sum = await download(url, file, { stallMs, signal }, (done, total) =>
    notify({ kind: 'progress', text: 'downloading envtest: MB', done, ...(total !== undefined && { total }) }),
  )
  if (sum !== sha512) throw new Error(`its SHA-512 is ${sum.slice(0, 16)}…, pinned is ${sha512.slice(0, 16)}…`)
  const { exit, stderr } = await exec({
    file: 'tar',
    args: ['-xzf', file, '-C', folder, '--strip-components=2', '--no-same-owner'],
  })
  if (!succeeded(exit)) throw new Error(`it cannot be unpacked: ${lastLines(stderr) || describeExit(exit)}`)
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) await access(path.join(folder, name))
  await rm(file)
}

interface DownloadOptions {
  readonly stallMs: number
  readonly signal: AbortSignal | undefined
}

/** Writes the file and returns its SHA-512. */
async function download(
  url: string,
  file: string,
  { stallMs, signal }: DownloadOptions,
  onProgress: (doneMegabytes: number, totalMegabytes?: number) => void,
): Promise<string> {
  const stalled = new AbortController()
  const reason = new Error(`no byte came for ${stallMs / 1000} s`)
  let timer = setTimeout(() => stalled.abort(reason), stallMs)
  const output = await open(file, 'w')
  try {
    const response = await fetch(url, { signal: AbortSignal.any([stalled.signal, ...(signal ? [signal] : [])]) })
    if (!response.ok || !response.body) throw new Error(`the server answers ${response.status}`)
    const length = Number(response.headers.get('content-length'))
    const total = length > 0 ? Math.ceil(length / 1e6) : undefined
    const hash = createHash('sha512')
    let received = 0
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      timer = setTimeout(() => stalled.abort(reason), stallMs)
      received += chunk.length
      if (received > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES / 1e6} MB`)
      hash.update(chunk)
      await output.writeFile(chunk)
      onProgress(Math.floor(received / 1e6), total)
    }
    return hash.digest('hex')
  } catch (error) {
    throw stalled.signal.aborted ? reason : error instanceof Error && error.cause ? error.cause : error
  } finally {
    clearTimeout(timer)
    await output.close()
  }
}
