/**
 * Serves and registers the webhooks of a running operator.
 *
 * The certificate is checked regularly; a new authority is registered with the API server.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { failure, formatError } from '../errors/failure.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import { serveAdmission } from '../kube/admission-server.ts'
import type { KubeClient } from '../kube/client.ts'
import { metricsPage } from '../kube/health-server.ts'
import type { Log } from '../kube/log.ts'
import type { Metrics } from '../kube/metrics.ts'
import { createAuthorize } from '../kube/token-review.ts'
import type { Credentials } from '../pki/authority.ts'
import { readCredentialFolder } from '../pki/watch-credentials.ts'
import { ensureServingCertificate, type ServingCertificate } from '../webhooks/serving-certificate.ts'
import {
  caBundleConfigurations,
  type Webhook,
  type WebhookTarget,
  webhookConfigurations,
} from '../webhooks/webhook-configuration.ts'
import { webhooksNotInstalled } from './findings.ts'
import type { OperatorOptions } from './options.ts'
import { LEASE_NAME } from './permissions.ts'

export interface WebhookServerDeps {
  readonly client: KubeClient
  readonly namespace: string
  readonly options: OperatorOptions
  readonly handlers: Readonly<Record<string, AdmissionHandler>>
  readonly webhooks: readonly Webhook[]
  readonly metrics: Metrics
  readonly log: Log
  /** From this signal on every response ends its connection. */
  readonly closing: AbortSignal
}

const CERTIFICATE_CHECK_MS = 60_000

/**
 * Serves /metrics of an observer over HTTPS, to users that the API server authenticates and authorizes. The certificate
 * is given: an observer stores none. Undefined without one: then /metrics is served on loopback only.
 */
export async function serveObserverMetrics(
  { client, options, metrics, log }: Pick<WebhookServerDeps, 'client' | 'options' | 'metrics' | 'log'>,
  signal: AbortSignal,
): Promise<{ readonly stopped: Promise<unknown> } | undefined> {
  const { certDir, bind: host, webhookPort: port, certificateCheckMs: pollMs = 10_000 } = options
  if (certDir === undefined) return undefined
  const pages = { '/metrics': metricsPage(metrics, createAuthorize({ client, clock: systemClock })) }
  const credentials = { read: () => readCredentialFolder(certDir), pollMs }
  const server = await serveAdmission({ host, port, handlers: {}, pages, credentials, log }, signal)
  log({ level: 'info', message: 'metrics are served over HTTPS', port: server.port })
  return server
}

/** Undefined when no webhooks are requested. `stopped` resolves when the server is closed. */
export async function serveWebhooks(
  deps: WebhookServerDeps,
  signal: AbortSignal,
): Promise<{ readonly stopped: Promise<unknown> } | undefined> {
  const { client, options, handlers, metrics, log, namespace } = deps
  const target = webhookTarget(options, namespace)
  if (!target) {
    log({ level: 'warn', message: 'no webhooks: neither --webhook-url nor --webhook-service is given' })
    return undefined
  }
  const checkMs = options.certificateCheckMs ?? CERTIFICATE_CHECK_MS
  const keys = await prepareCredentials(target, deps, signal)
  const server = await serveAdmission(
    {
      host: options.bind,
      port: options.webhookPort,
      handlers,
      pages: { '/metrics': metricsPage(metrics, createAuthorize({ client, clock: systemClock })) },
      credentials: { read: keys.read, pollMs: Math.min(checkMs, 10_000) },
      log,
      observer: metrics.admission,
      closing: deps.closing,
    },
    signal,
  )
  // Registered only now, so that the API server never calls a server that does not listen.
  let trusted = await keys.authority()
  await register(target, trusted, deps, signal)
  log({ level: 'info', message: 'webhooks are served', port: server.port })
  const checking = (async () => {
    while (!signal.aborted) {
      await systemClock.sleep(checkMs, signal)
      if (signal.aborted) return
      try {
        const authority = await keys.authority()
        if (authority === trusted) continue
        await register(target, authority, deps, signal)
        trusted = authority
        log({ level: 'info', message: 'a new certificate authority is registered' })
      } catch (error) {
        log({ level: 'warn', message: 'the certificate could not be renewed', reason: formatError(error) })
      }
    }
  })()
  return { stopped: Promise.all([server.stopped, checking]) }
}

function webhookTarget({ webhookUrl, webhookService }: OperatorOptions, namespace: string): WebhookTarget | undefined {
  if (webhookUrl !== undefined) return { url: webhookUrl }
  return webhookService === undefined ? undefined : { service: { namespace, name: webhookService, port: 443 } }
}

/** By URL the whole configuration is written; behind a Service the installer wrote it, and only the CA is missing. */
async function register(
  target: WebhookTarget,
  authority: string,
  { client, webhooks, options: { namespaces } }: WebhookServerDeps,
  signal: AbortSignal,
): Promise<void> {
  const isInstalled = 'service' in target
  const configurations = isInstalled
    ? caBundleConfigurations(webhooks, authority)
    : webhookConfigurations(webhooks, target, { authority, ...(namespaces && { namespaces }) })
  for (const configuration of configurations) {
    if (isInstalled) await requireInstalled(client, configuration, signal)
    await client.apply(configuration, { fieldManager: LEASE_NAME, signal })
  }
}

async function requireInstalled(
  client: Pick<KubeClient, 'get'>,
  { apiVersion, kind, metadata }: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { name } = metadata
  if (await client.get({ apiVersion, kind, name }, { signal })) return
  throw failure(webhooksNotInstalled, { configuration: `${kind} ${name}` }, { exitCode: 2 })
}

interface ServingKeys {
  readonly read: () => Promise<Credentials>
  /** Renews the certificate if needed, and returns the CA to trust. */
  readonly authority: () => Promise<string>
}

/** The private key is in the Secret and in memory only: a folder would stay when this process is killed. */
async function prepareCredentials(
  target: WebhookTarget,
  { client, namespace, options }: WebhookServerDeps,
  signal: AbortSignal,
): Promise<ServingKeys> {
  const { certDir } = options
  if (certDir !== undefined) {
    const authority = (): Promise<string> => readFile(path.join(certDir, 'ca.crt'), 'utf8')
    return { read: () => readCredentialFolder(certDir), authority }
  }
  const hosts = servingHosts(target)
  const ensure = (): Promise<ServingCertificate> =>
    ensureServingCertificate({ client, namespace, hosts, now: systemClock.now, signal })
  let current = await ensure()
  const authority = async (): Promise<string> => {
    current = await ensure()
    return current.authority
  }
  return { read: async () => current, authority }
}

function servingHosts(target: WebhookTarget): readonly string[] {
  if ('url' in target) return [new URL(target.url).hostname.replace(/^\[|\]$/g, '')]
  const { name, namespace } = target.service
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
}
