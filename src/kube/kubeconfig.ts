/**
 * Reads, checks and merges kubeconfig files as kubectl does (the first file that defines a name wins).
 *
 * Must not put any content of a file into a message: it may be a credential.
 */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createSecureContext } from 'node:tls'
import { load, YAMLException } from 'js-yaml'
import { isRecord } from '../api/json.ts'
import { inputTooLarge, unreadableFile } from '../errors/common.ts'
import { Failure, failure, formatError, formatSystemError } from '../errors/failure.ts'
import { readLimited } from '../files/read-limited.ts'
import { findExpansion } from '../yaml/expanded-size.ts'
import type { Identity } from './credential.ts'
import { brokenKubeconfig } from './findings/connection.ts'

export interface ClusterEntry {
  readonly server?: string
  readonly 'certificate-authority'?: string
  readonly 'certificate-authority-data'?: string
  readonly 'insecure-skip-tls-verify'?: boolean
  readonly 'tls-server-name'?: string
  readonly 'proxy-url'?: string
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[]
}

export interface ExecEntry {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly provideClusterInfo?: boolean
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
}

export interface UserEntry {
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly 'client-certificate'?: string
  readonly 'client-certificate-data'?: string
  readonly 'client-key'?: string
  readonly 'client-key-data'?: string
  readonly exec?: ExecEntry
  readonly 'auth-provider'?: { readonly name?: string; readonly config?: Readonly<Record<string, string>> }
  readonly as?: string
  readonly 'as-uid'?: string
  readonly 'as-groups'?: readonly string[]
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>
}

export interface ContextEntry {
  readonly cluster?: string
  readonly user?: string
  readonly namespace?: string
}

/** An entry and its file: relative paths start there, and messages name it. */
export interface FromFile<T> {
  readonly file: string
  readonly entry: T
}

export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, FromFile<ClusterEntry>>
  readonly users: ReadonlyMap<string, FromFile<UserEntry>>
  readonly contexts: ReadonlyMap<string, FromFile<ContextEntry>>
  readonly currentContext: string | undefined
  readonly files: readonly string[]
}

/** Reads and merges. Missing files are skipped unless `required`, as kubectl does with `KUBECONFIG`. */
export async function readKubeconfig(files: readonly string[], required: boolean): Promise<Kubeconfig> {
  const clusters = new Map<string, FromFile<ClusterEntry>>()
  const users = new Map<string, FromFile<UserEntry>>()
  const contexts = new Map<string, FromFile<ContextEntry>>()
  const readFiles: string[] = []
  let currentContext: string | undefined
  for (const file of files) {
    const text = await readText(file, required)
    if (text === undefined) continue
    readFiles.push(file)
    const content = parseKubeconfig(text, file)
    addNamed(clusters, content['clusters'], 'cluster', file)
    addNamed(users, content['users'], 'user', file)
    addNamed(contexts, content['contexts'], 'context', file)
    const current = content['current-context']
    if (typeof current === 'string' && current !== '') currentContext ??= current
  }
  return { clusters, users, contexts, currentContext, files: readFiles }
}

/** A kubeconfig holds at most a few certificates for each cluster. */
const LIMIT_MIB = 16

async function readText(file: string, required: boolean): Promise<string | undefined> {
  try {
    const content = await readLimited(file, LIMIT_MIB * 1024 ** 2)
    if (!content) throw failure(inputTooLarge, { file, limitMiB: LIMIT_MIB })
    return content.toString('utf8')
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    if (!required && (thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure(unreadableFile, { file, reason: formatSystemError(thrown) }, { cause: thrown })
  }
}

function parseKubeconfig(text: string, file: string): Readonly<Record<string, unknown>> {
  let content: unknown
  try {
    content = load(text)
  } catch (thrown) {
    throw yamlFailure(thrown, file)
  }
  const expansion = findExpansion(content, text.length)
  if (expansion !== undefined) throw kubeconfigError(file, expansion)
  // kubectl treats an empty file as an empty configuration.
  if (content === undefined || content === null) return {}
  if (!isRecord(content)) throw kubeconfigError(file, 'it is not a mapping of clusters, users and contexts')
  if (content['kind'] !== undefined && content['kind'] !== 'Config') {
    throw kubeconfigError(file, 'its kind is not Config')
  }
  return content
}

/** js-yaml's message quotes the lines around the error; only the reason and the position are safe to show. */
function yamlFailure(thrown: unknown, file: string): Error {
  if (!(thrown instanceof YAMLException)) throw thrown
  const where = thrown.mark && { file, line: thrown.mark.line + 1, column: thrown.mark.column + 1 }
  const position = where ? ` (line ${where.line})` : ''
  return failure(brokenKubeconfig, { file, reason: `not YAML: ${thrown.reason}${position}` }, { where })
}

function addNamed<T>(target: Map<string, FromFile<T>>, list: unknown, noun: string, file: string): void {
  if (list === undefined || list === null) return
  if (!Array.isArray(list)) throw kubeconfigError(file, `${noun}s is not a list`)
  for (const [index, item] of list.entries()) {
    const named: unknown = item
    if (!isRecord(named) || typeof named['name'] !== 'string')
      throw kubeconfigError(file, `${noun}s[${index}] has no name`)
    const entry = named[noun] ?? {}
    if (!isRecord(entry)) throw kubeconfigError(file, `${noun} "${named['name']}" is not a mapping`)
    if (!target.has(named['name'])) target.set(named['name'], { file, entry: entry as T })
  }
}

/** Resolves a path relative to its kubeconfig. */
export function resolveBeside(kubeconfig: string, name: string): string {
  return path.resolve(path.dirname(kubeconfig), name)
}

export function kubeconfigError(file: string, reason: string): Error {
  return failure(brokenKubeconfig, { file, reason })
}

export async function readCa(source: FromFile<ClusterEntry>): Promise<string | undefined> {
  const { entry, file } = source
  const ca = await readDataOrFile(
    file,
    'certificate-authority',
    entry['certificate-authority-data'],
    entry['certificate-authority'],
  )
  if (ca !== undefined) checkUsable(file, 'certificate-authority', () => new X509Certificate(ca))
  return ca
}

export async function readClientCertificate(source: FromFile<UserEntry>): Promise<Partial<Identity>> {
  const { entry, file } = source
  const cert = await readDataOrFile(
    file,
    'client-certificate',
    entry['client-certificate-data'],
    entry['client-certificate'],
  )
  const key = await readDataOrFile(file, 'client-key', entry['client-key-data'], entry['client-key'])
  if ((cert === undefined) !== (key === undefined)) {
    throw kubeconfigError(
      file,
      'a client certificate needs its key and the key its certificate; one of them is missing',
    )
  }
  if (cert === undefined || key === undefined) return {}
  checkUsable(file, 'client certificate and key', () => createSecureContext({ cert, key }))
  return { certificate: cert, key }
}

async function readDataOrFile(
  kubeconfig: string,
  field: string,
  data: string | undefined,
  name: string | undefined,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8')
  if (!name) return undefined
  const file = resolveBeside(kubeconfig, name)
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    throw kubeconfigError(kubeconfig, `${field}: cannot read ${file}: ${formatSystemError(thrown)}`)
  }
}

function checkUsable(kubeconfig: string, field: string, load: () => unknown): void {
  try {
    load()
  } catch (thrown) {
    // `error:05800074:x509 certificate routines::key values mismatch`
    throw kubeconfigError(kubeconfig, `${field}: not usable (${formatError(thrown).split('::').at(-1)})`)
  }
}
