/**
 * Credential plugins (`users[].user.exec`): runs the program and reads the ExecCredential that it prints.
 *
 * What the program prints on stdout is a secret: it is parsed, and never part of a message.
 */
import { spawn } from 'node:child_process'
import { failure } from '../errors/failure.ts'
import { credentialPluginFailed } from './findings/connection.ts'
import { type ExecEntry, type FromFile, resolveBeside } from './kubeconfig.ts'

export interface ExecCredential {
  readonly token?: string
  readonly certificate?: string
  readonly key?: string
  /** Milliseconds since the epoch; undefined: good until the server says otherwise. */
  readonly expires?: number
}

export interface ExecPlugin {
  readonly source: FromFile<ExecEntry>
  /** What `provideClusterInfo` gives to the program. */
  readonly cluster: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person sits at the terminal and can answer the program's questions. */
  readonly interactive: boolean
  readonly timeoutMs: number
}

export async function runExecPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
  const { entry, file } = plugin.source
  const name = entry.command
  if (!name) throw failed(entry, 'the kubeconfig names no command')
  if (entry.interactiveMode === 'Always' && !plugin.interactive) {
    throw failed(entry, 'it wants to ask you something, and there is no terminal')
  }
  // As kubectl: a bare name is looked up in PATH, a path starts at the kubeconfig.
  const command = name.includes('/') ? resolveBeside(file, name) : name
  const output = await run(command, plugin)
  return readCredential(output, entry)
}

function run(command: string, { source, cluster, env, interactive, timeoutMs }: ExecPlugin): Promise<string> {
  const { entry } = source
  const asks = interactive && entry.interactiveMode !== 'Never'
  const info = {
    apiVersion: entry.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: asks, ...(entry.provideClusterInfo && { cluster }) },
  }
  const own = Object.fromEntries((entry.env ?? []).map((one) => [one.name, one.value]))
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...(entry.args ?? [])], {
      env: { ...env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [asks ? 'inherit' : 'ignore', 'pipe', asks ? 'inherit' : 'pipe'],
    })
    const output: Buffer[] = []
    let complaint = ''
    let late = false
    const timer = setTimeout(
      () => {
        late = true
        child.kill('SIGKILL')
      },
      // A person who has to sign in takes the time that it takes.
      asks ? 2 ** 31 - 1 : timeoutMs,
    )
    child.stdout?.on('data', (chunk: Buffer) => void output.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < 10_000) complaint += chunk.toString()
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(failed(entry, error.code === 'ENOENT' ? 'not found' : error.message))
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (late) reject(failed(entry, `no answer within ${timeoutMs / 1000} s`))
      else if (code !== 0) reject(failed(entry, ended(code, signal, complaint)))
      else resolve(Buffer.concat(output).toString('utf8'))
    })
  })
}

function ended(code: number | null, signal: string | null, complaint: string): string {
  const how = code === null ? `it was ended by ${signal}` : `exit code ${code}`
  const said = withoutSecrets(lastLine(complaint))
  return said ? `${how}: ${said}` : how
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? ''
}

/** Anything long and dense could be a token. */
function withoutSecrets(text: string): string {
  return text.replace(/[\w+/=.~-]{24,}/g, '…')
}

function readCredential(output: string, entry: ExecEntry): ExecCredential {
  let parsed: unknown
  try {
    parsed = JSON.parse(output)
  } catch {
    throw failed(entry, 'its answer is not JSON')
  }
  const { kind, status } = (parsed ?? {}) as { kind?: unknown; status?: Readonly<Record<string, unknown>> }
  if (kind !== 'ExecCredential' || typeof status !== 'object') {
    throw failed(entry, 'its answer is not an ExecCredential')
  }
  const token = text(status['token'])
  const certificate = text(status['clientCertificateData'])
  const key = text(status['clientKeyData'])
  const expires = Date.parse(text(status['expirationTimestamp']) ?? '')
  if (!token && !(certificate && key)) throw failed(entry, 'its answer holds neither a token nor a certificate')
  return {
    ...(token && { token }),
    ...(certificate && key && { certificate, key }),
    ...(!Number.isNaN(expires) && { expires }),
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function failed(entry: ExecEntry, reason: string): Error {
  return failure(credentialPluginFailed, {
    command: entry.command ?? '(none)',
    reason,
    hint: entry.installHint,
  })
}
