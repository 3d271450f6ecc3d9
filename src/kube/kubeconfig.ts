/**
 * Kubeconfig files: read, checked and merged as kubectl merges them (the first file that has a name wins).
 *
 * Knows the file format only. Nothing of a file's content is ever put into a message: it may be a credential.
 */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createSecureContext } from 'node:tls'
import { load, YAMLException } from 'js-yaml'
import { isRecord } from '../api/json.ts'
import { unreadableFile } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
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

/** An entry and the file that it is from: relative paths start there, and messages name it. */
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

/** Reads and merges. Files that do not exist are left out unless `required`, as kubectl does with `KUBECONFIG`. */
export async function readKubeconfig(files: readonly string[], required: boolean): Promise<Kubeconfig> {
  const clusters = new Map<string, FromFile<ClusterEntry>>()
  const users = new Map<string, FromFile<UserEntry>>()
  const contexts = new Map<string, FromFile<ContextEntry>>()
  const found: string[] = []
  let currentContext: string | undefined
  for (const file of files) {
    const text = await readText(file, required)
    if (text === undefined) continue
    found.push(file)
    const content = parseKubeconfig(text, file)
    addNamed(clusters, content['clusters'], 'cluster', file)
    addNamed(users, content['users'], 'user', file)
    addNamed(contexts, content['contexts'], 'context', file)
    const current = content['current-context']
    if (typeof current === 'string' && current !== '') currentContext ??= current
  }
  return { clusters, users, contexts, currentContext, files: found }
}

async function readText(file: string, required: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    if (!required && (thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure(unreadableFile, { file, reason: describeSystemError(thrown) }, { cause: thrown })
  }
}

function parseKubeconfig(text: string, file: string): Readonly<Record<string, unknown>> {
  let content: unknown
  try {
    content = load(text)
  } catch (thrown) {
    throw yamlFailure(thrown, file)
  }
  // kubectl takes an empty file for an empty configuration.
  if (content === undefined || content === null) return {}
  if (!isRecord(content)) throw kubeconfigError(file, 'it is not a mapping of clusters, users and contexts')
  if (content['kind'] !== undefined && content['kind'] !== 'Config') {
    throw kubeconfigError(file, 'its kind is not Config')
  }
  return content
}

/** js-yaml's own message quotes the lines around the mistake; only the reason and the place are safe to show. */
function yamlFailure(thrown: unknown, file: string): Error {
  if (!(thrown instanceof YAMLException)) throw thrown
  const where = thrown.mark && { file, line: thrown.mark.line + 1, column: thrown.mark.column + 1 }
  const place = where ? ` (line ${where.line})` : ''
  return failure(brokenKubeconfig, { file, reason: `not YAML: ${thrown.reason}${place}` }, { where })
}

function addNamed<T>(target: Map<string, FromFile<T>>, list: unknown, noun: string, file: string): void {
  if (list === undefined || list === null) return
  if (!Array.isArray(list)) throw kubeconfigError(file, `${noun}s is not a list`)
  for (const [index, item] of list.entries()) {
    const one: unknown = item
    if (!isRecord(one) || typeof one['name'] !== 'string') throw kubeconfigError(file, `${noun}s[${index}] has no name`)
    const entry = one[noun] ?? {}
    if (!isRecord(entry)) throw kubeconfigError(file, `${noun} "${one['name']}" is not a mapping`)
    if (!target.has(one['name'])) target.set(one['name'], { file, entry: entry as T })
  }
}

/** Relative paths in a kubeconfig are relative to that kubeconfig. */
export function resolveBeside(kubeconfig: string, name: string): string {
  return path.resolve(path.dirname(kubeconfig), name)
}

export function kubeconfigError(file: string, reason: string): Error {
  return failure(brokenKubeconfig, { file, reason })
}

/** `ENOENT: no such file or directory, open '/x'`: the part that a person reads. */
export function describeSystemError(thrown: unknown): string {
  return /^[A-Z]+: ([^,]+)/.exec(formatError(thrown))?.[1] ?? formatError(thrown)
}

export async function readCa(source: FromFile<ClusterEntry>): Promise<string | undefined> {
  const { entry, file } = source
  const ca = await textOrFile(
    file,
    'certificate-authority',
    entry['certificate-authority-data'],
    entry['certificate-authority'],
  )
  if (ca !== undefined) check(file, 'certificate-authority', () => new X509Certificate(ca))
  return ca
}

export async function readClientCertificate(source: FromFile<UserEntry>): Promise<Partial<Identity>> {
  const { entry, file } = source
  const cert = await textOrFile(
    file,
    'client-certificate',
    entry['client-certificate-data'],
    entry['client-certificate'],
  )
  const key = await textOrFile(file, 'client-key', entry['client-key-data'], entry['client-key'])
  if ((cert === undefined) !== (key === undefined)) {
    throw kubeconfigError(file, 'a client certificate and its key belong together, and one of them is missing')
  }
  if (cert === undefined || key === undefined) return {}
  check(file, 'client certificate and key', () => createSecureContext({ cert, key }))
  return { certificate: cert, key }
}

async function textOrFile(
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
    throw kubeconfigError(kubeconfig, `${field}: cannot read ${file}: ${describeSystemError(thrown)}`)
  }
}

function check(kubeconfig: string, field: string, load: () => unknown): void {
  try {
    load()
  } catch (thrown) {
    // `error:05800074:x509 certificate routines::key values mismatch`
    throw kubeconfigError(kubeconfig, `${field}: not usable (${formatError(thrown).split('::').at(-1)})`)
  }
}
