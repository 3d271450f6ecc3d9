/**
 * Resolves the cluster and the credential from `--kubeconfig`, `KUBECONFIG`, `~/.kube/config`, or the current pod.
 *
 * Must not send requests: the result is one value, `ClusterAccess`, for the transport.
 */
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import type { Clock } from '../clock/clock.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { failure } from '../errors/failure.ts'
import {
  type Credential,
  fileCredential,
  fixedCredential,
  type Identity,
  pluginCredential,
  tokenFileCredential,
} from './credential.ts'
import { noCluster, unknownContext } from './findings/connection.ts'
import {
  type ClusterEntry,
  type ContextEntry,
  type FromFile,
  type Kubeconfig,
  kubeconfigError,
  readCa,
  readClientCertificate,
  readKubeconfig,
  resolveBeside,
  type UserEntry,
} from './kubeconfig.ts'
import { type Environment, proxyFor } from './proxy.ts'

export interface ClusterTls {
  readonly ca?: string
  readonly servername?: string
  readonly insecure?: boolean
}

export interface ClusterAccess {
  /** The URL of the API server, without a trailing slash. */
  readonly server: string
  readonly context: string | undefined
  readonly namespace: string
  readonly tls: ClusterTls
  readonly proxy: string | undefined
  readonly credential: Credential
}

export interface AccessOptions {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly namespace?: string | undefined
  readonly env: Environment
  readonly clock: Clock
  /** Whether a credential plugin may prompt at the terminal. */
  readonly interactive?: boolean
  readonly pluginTimeoutMs?: number
  /** The folder of the pod's service account. */
  readonly serviceAccount?: string
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

export async function loadAccess(options: AccessOptions): Promise<ClusterAccess> {
  const { env } = options
  const files = kubeconfigFiles(options)
  const config = await readKubeconfig(files, options.kubeconfig !== undefined)
  if (config.contexts.size === 0 && config.clusters.size === 0 && options.context === undefined) {
    // An explicit kubeconfig excludes the pod.
    if (env['KUBERNETES_SERVICE_HOST'] && options.kubeconfig === undefined) return podAccess(options)
    const [file] = config.files
    throw file ? kubeconfigError(file, 'it names no cluster') : failure(noCluster, { tried: files })
  }
  return contextAccess(config, options)
}

/** The files that kubectl would read, in its order. */
export function kubeconfigFiles({ kubeconfig, env }: Pick<AccessOptions, 'kubeconfig' | 'env'>): readonly string[] {
  if (kubeconfig) return [kubeconfig]
  const listed = (env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '')
  return listed.length > 0 ? listed : [path.join(env['HOME'] ?? homedir(), '.kube', 'config')]
}

async function contextAccess(config: Kubeconfig, options: AccessOptions): Promise<ClusterAccess> {
  const { name, context } = pickContext(config, options.context)
  const cluster = config.clusters.get(context.entry.cluster ?? '')
  if (!cluster) throw missingEntry(name, context, 'cluster')
  const user = context.entry.user ? config.users.get(context.entry.user) : undefined
  if (context.entry.user && !user) throw missingEntry(name, context, 'user')
  const server = serverUrl(cluster)
  const ca = await readCa(cluster)
  const servername = cluster.entry['tls-server-name']
  return {
    server,
    context: name,
    namespace: options.namespace ?? context.entry.namespace ?? 'default',
    tls: {
      ...(ca !== undefined && { ca }),
      ...(servername && { servername }),
      ...(cluster.entry['insecure-skip-tls-verify'] && { insecure: true }),
    },
    proxy: proxyFor(server, cluster.entry['proxy-url'], options.env),
    credential: user
      ? await createCredential(context.entry.user ?? '', user, { cluster, ca, options })
      : fixedCredential('an anonymous user', { headers: {} }),
  }
}

function pickContext(
  config: Kubeconfig,
  requested: string | undefined,
): { readonly name: string; readonly context: FromFile<ContextEntry> } {
  const known = [...config.contexts.keys()]
  const name = requested ?? config.currentContext
  if (name === undefined) {
    throw kubeconfigError(config.files[0] ?? 'the kubeconfig', 'it has no current-context, and no --context was given')
  }
  const context = config.contexts.get(name)
  if (!context) throw failure(unknownContext, { context: name, known, nearest: closestMatch(name, known) })
  return { name, context }
}

function missingEntry(name: string, { file, entry }: FromFile<ContextEntry>, part: 'cluster' | 'user'): Error {
  const target = entry[part]
  const problem = target ? `names the ${part} "${target}", which is missing` : `names no ${part}`
  return kubeconfigError(file, `context "${name}" ${problem}`)
}

function serverUrl({ entry, file }: FromFile<ClusterEntry>): string {
  const server = entry.server ?? ''
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw kubeconfigError(file, server ? `the server is not an http or https URL` : 'the cluster has no server')
  }
  // The URL appears in messages, so it must not contain a secret.
  if (url.username || url.password) throw kubeconfigError(file, 'the URL of the server holds a user or a password')
  return server.replace(/\/+$/, '')
}

interface CredentialSources {
  readonly cluster: FromFile<ClusterEntry>
  readonly ca: string | undefined
  readonly options: AccessOptions
}

async function createCredential(
  name: string,
  source: FromFile<UserEntry>,
  { cluster, ca, options }: CredentialSources,
): Promise<Credential> {
  const { entry, file } = source
  const user = `user ${name}`
  const { clock } = options
  const base = { headers: impersonation(entry), ...(await readClientCertificate(source)) }
  // As kubectl: static credentials take precedence over plugins.
  if (entry.tokenFile) {
    return tokenFileCredential({ user, file: resolveBeside(file, entry.tokenFile), base, clock })
  }
  const authorization = authorizationHeader(entry)
  if (authorization) return fixedCredential(user, { ...base, headers: { ...base.headers, authorization } })
  if (entry.exec) {
    const plugin = {
      source: { file, entry: entry.exec },
      cluster: clusterInfo(cluster.entry, ca),
      env: options.env,
      interactive: options.interactive ?? false,
      timeoutMs: options.pluginTimeoutMs ?? 60_000,
    }
    return pluginCredential({ user, plugin, base, clock })
  }
  const provider = entry['auth-provider']
  if (provider) {
    throw kubeconfigError(
      file,
      `${user} uses the auth-provider "${provider.name}", which Kubernetes has removed; use exec`,
    )
  }
  // The files of a certificate are replaced when it is renewed.
  const read = async (): Promise<Identity> => ({ ...base, ...(await readClientCertificate(source)) })
  return entry['client-certificate'] ? fileCredential({ user, read, clock }) : fixedCredential(user, base)
}

/** The authorization header for credentials in the kubeconfig itself. */
function authorizationHeader(entry: UserEntry): string | undefined {
  const provider = entry['auth-provider']
  const idToken = provider?.name === 'oidc' ? provider.config?.['id-token'] : undefined
  const token = entry.token || idToken
  if (token) return `Bearer ${token}`
  if (entry.username === undefined) return undefined
  return `Basic ${Buffer.from(`${entry.username}:${entry.password ?? ''}`).toString('base64')}`
}

function impersonation(entry: UserEntry): Readonly<Record<string, string | string[]>> {
  const extra = Object.entries(entry['as-user-extra'] ?? {}).map(
    ([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, [...values]] as const,
  )
  return {
    ...(entry.as && { 'impersonate-user': entry.as }),
    ...(entry['as-uid'] && { 'impersonate-uid': entry['as-uid'] }),
    ...(entry['as-groups'] && { 'impersonate-group': [...entry['as-groups']] }),
    ...Object.fromEntries(extra),
  }
}

/** The value of `provideClusterInfo` for a plugin. */
function clusterInfo(entry: ClusterEntry, ca: string | undefined): Readonly<Record<string, unknown>> {
  const config = entry.extensions?.find(
    (extension) => extension.name === 'client.authentication.k8s.io/exec',
  )?.extension
  return {
    server: entry.server,
    ...(entry['tls-server-name'] && { 'tls-server-name': entry['tls-server-name'] }),
    ...(entry['insecure-skip-tls-verify'] && { 'insecure-skip-tls-verify': true }),
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(entry['proxy-url'] && { 'proxy-url': entry['proxy-url'] }),
    ...(config !== undefined && { config }),
  }
}

/** Inside a pod: the service account, which the kubelet keeps current. */
async function podAccess({
  env,
  clock,
  namespace,
  serviceAccount = SERVICE_ACCOUNT,
}: AccessOptions): Promise<ClusterAccess> {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? ''
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443'
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  if (!/^[\w.:-]+$/.test(host) || !URL.canParse(server)) throw failure(noCluster, { tried: [server] })
  const read = (name: string): Promise<string | undefined> =>
    readFile(path.join(serviceAccount, name), 'utf8').catch(() => undefined)
  const [ca, podNamespace] = await Promise.all([read('ca.crt'), read('namespace')])
  return {
    server,
    context: undefined,
    namespace: namespace ?? podNamespace?.trim() ?? 'default',
    tls: ca === undefined ? {} : { ca },
    proxy: proxyFor(server, undefined, env),
    credential: tokenFileCredential({
      user: "this pod's service account",
      file: path.join(serviceAccount, 'token'),
      base: { headers: {} },
      clock,
    }),
  }
}
