/**
 * Runs credential plugins (`users[].user.exec`) and parses the ExecCredential that they print.
 *
 * The plugin's stdout is a secret: it is parsed and never part of a message.
 */
import { spawn } from 'node:child_process'
import { failure } from '../errors/failure.ts'
import { credentialPluginFailed } from './findings/connection.ts'
import { type ExecEntry, type FromFile, resolveBeside } from './kubeconfig.ts'

export interface ExecCredential {
  readonly token?: string
  readonly certificate?: string
  readonly key?: string
  /** Milliseconds since the epoch; undefined: valid until the server rejects it. */
  readonly expires?: number
}

export interface ExecPlugin {
  readonly source: FromFile<ExecEntry>
  /** The value of `provideClusterInfo` for the plugin. */
  readonly cluster: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the plugin may prompt at the terminal. */
  readonly interactive: boolean
  readonly timeoutMs: number
}

export async function runExecPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
  const { entry, file } = plugin.source
  const name = entry.command
  if (!name) throw pluginError(entry, 'the kubeconfig names no command')
  if (entry.interactiveMode === 'Always' && !plugin.interactive) {
    throw pluginError(entry, 'it needs to prompt, and there is no terminal')
  }
  // As kubectl: a bare name is looked up in PATH, a path is relative to the kubeconfig.
  const command = name.includes('/') ? resolveBeside(file, name) : name
  const output = await run(command, plugin)
  return readCredential(output, entry)
}

function run(command: string, { source, cluster, env, interactive, timeoutMs }: ExecPlugin): Promise<string> {
  const { entry } = source
  const interactiveRun = interactive && entry.interactiveMode !== 'Never'
  const info = {
    apiVersion: entry.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: interactiveRun, ...(entry.provideClusterInfo && { cluster }) },
  }
  const pluginEnv = Object.fromEntries((entry.env ?? []).map((variable) => [variable.name, variable.value]))
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...(entry.args ?? [])], {
      env: { ...env, ...pluginEnv, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactiveRun ? 'inherit' : 'ignore', 'pipe', interactiveRun ? 'inherit' : 'pipe'],
    })
    const output: Buffer[] = []
    let stderrText = ''
    let timedOut = false
    const timer = setTimeout(
      () => {
        timedOut = true
        child.kill('SIGKILL')
      },
      // Signing in interactively may take any time.
      interactiveRun ? 2 ** 31 - 1 : timeoutMs,
    )
    child.stdout?.on('data', (chunk: Buffer) => void output.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => {
      if (stderrText.length < 10_000) stderrText += chunk.toString()
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(pluginError(entry, error.code === 'ENOENT' ? 'not found' : error.message))
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (timedOut) reject(pluginError(entry, `no output within ${timeoutMs / 1000} s`))
      else if (code !== 0) reject(pluginError(entry, describeExit(code, signal, stderrText)))
      else resolve(Buffer.concat(output).toString('utf8'))
    })
  })
}

function describeExit(code: number | null, signal: string | null, stderrText: string): string {
  const status = code === null ? `it was ended by ${signal}` : `exit code ${code}`
  const lastMessage = withoutSecrets(lastLine(stderrText))
  return lastMessage ? `${status}: ${lastMessage}` : status
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? ''
}

/** Any long dense word could be a token. */
function withoutSecrets(text: string): string {
  return text.replace(/[\w+/=.~-]{24,}/g, '…')
}

function readCredential(output: string, entry: ExecEntry): ExecCredential {
  let parsed: unknown
  try {
    parsed = JSON.parse(output)
  } catch {
    throw pluginError(entry, 'its output is not JSON')
  }
  const { kind, status } = (parsed ?? {}) as { kind?: unknown; status?: Readonly<Record<string, unknown>> }
  if (kind !== 'ExecCredential' || typeof status !== 'object') {
    throw pluginError(entry, 'its output is not an ExecCredential')
  }
  const token = text(status['token'])
  const certificate = text(status['clientCertificateData'])
  const key = text(status['clientKeyData'])
  const expires = Date.parse(text(status['expirationTimestamp']) ?? '')
  if (!token && !(certificate && key)) throw pluginError(entry, 'its output has neither a token nor a certificate')
  return {
    ...(token && { token }),
    ...(certificate && key && { certificate, key }),
    ...(!Number.isNaN(expires) && { expires }),
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function pluginError(entry: ExecEntry, reason: string): Error {
  return failure(credentialPluginFailed, {
    command: entry.command ?? '(none)',
    reason,
    hint: entry.installHint,
  })
}
