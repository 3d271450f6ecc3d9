/**
 * The webhooks of a running operator: served first, registered after, and trusted for as long as it runs.
 *
 * Certificates are looked at again and again: a new authority is told to the API server before anything else of it is
 * used for long.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { failure, formatError } from '../errors/failure.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import { serveAdmission } from '../kube/admission-server.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { Metrics } from '../kube/metrics.ts'
import type { CredentialFiles } from '../pki/watch-credentials.ts'
import { ensureServingCertificate } from '../webhooks/serving-certificate.ts'
import {
  caBundleConfigurations,
  type Webhook,
  type WebhookTarget,
  webhookConfigurations,
} from '../webhooks/webhook-configuration.ts'
import { webhooksNotInstalled } from './findings.ts'
import { LEASE_NAME } from './names.ts'
import type { OperatorOptions } from './options.ts'

export interface WebhookServerDeps {
  readonly client: KubeClient
  readonly namespace: string
  readonly options: OperatorOptions
  readonly handlers: Readonly<Record<string, AdmissionHandler>>
  readonly webhooks: readonly Webhook[]
  readonly metrics: Metrics
  readonly log: Log
}

/** How often certificates are looked at. */
const CERTIFICATE_CHECK_MS = 60_000

/** Undefined when no webhooks are asked for. `stopped` resolves when the door is closed and the key is off the disk. */
export async function serveWebhooks(
  serving: WebhookServerDeps,
  signal: AbortSignal,
): Promise<{ readonly stopped: Promise<void> } | undefined> {
  const { options, handlers, metrics, log, namespace } = serving
  const place = webhookTarget(options, namespace)
  if (!place) {
    log({ level: 'warn', message: 'no webhooks: neither --webhook-url nor --webhook-service is given' })
    return undefined
  }
  const everyMs = options.certificateCheckMs ?? CERTIFICATE_CHECK_MS
  const keys = await prepareCredentials(place, serving, signal)
  const server = await serveAdmission(
    {
      host: options.bind,
      port: options.webhookPort,
      handlers,
      credentials: { ...keys.files, pollMs: Math.min(everyMs, 10_000) },
      log,
      observer: metrics.admission,
    },
    signal,
  )
  // The API server is never told of a door that is not open.
  let trusted = await keys.authority()
  await register(place, trusted, serving, signal)
  log({ level: 'info', message: 'webhooks are served', port: server.port })
  const looking = (async () => {
    while (!signal.aborted) {
      await systemClock.sleep(everyMs, signal)
      if (signal.aborted) return
      try {
        const authority = await keys.authority()
        if (authority === trusted) continue
        await register(place, authority, serving, signal)
        trusted = authority
        log({ level: 'info', message: 'the API server is told of a new authority' })
      } catch (error) {
        log({ level: 'warn', message: 'the certificate could not be renewed', reason: formatError(error) })
      }
    }
  })()
  return { stopped: Promise.all([server.stopped, looking]).then(keys.forget) }
}

function webhookTarget({ webhookUrl, webhookService }: OperatorOptions, namespace: string): WebhookTarget | undefined {
  if (webhookUrl !== undefined) return { url: webhookUrl }
  return webhookService === undefined ? undefined : { service: { namespace, name: webhookService, port: 443 } }
}

/** By URL everything is written here; behind a Service the installer wrote it, and only the trust is missing. */
async function register(
  place: WebhookTarget,
  authority: string,
  { client, webhooks }: WebhookServerDeps,
  signal: AbortSignal,
): Promise<void> {
  const installed = 'service' in place
  const configurations = installed
    ? caBundleConfigurations(webhooks, authority)
    : webhookConfigurations(webhooks, place, authority)
  for (const configuration of configurations) {
    if (installed) await requireInstalled(client, configuration, signal)
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
  readonly files: CredentialFiles
  /** Looks anew, writes what is new, and answers whom to trust. */
  readonly authority: () => Promise<string>
  readonly forget: () => Promise<void>
}

async function prepareCredentials(
  place: WebhookTarget,
  { client, namespace, options }: WebhookServerDeps,
  signal: AbortSignal,
): Promise<ServingKeys> {
  const filesIn = (folder: string): CredentialFiles => ({
    certificateFile: path.join(folder, 'tls.crt'),
    privateKeyFile: path.join(folder, 'tls.key'),
  })
  const { certDir } = options
  if (certDir !== undefined) {
    const authority = (): Promise<string> => readFile(path.join(certDir, 'ca.crt'), 'utf8')
    return { files: filesIn(certDir), authority, forget: async () => {} }
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-webhook-'))
  const files = filesIn(folder)
  const authority = async (): Promise<string> => {
    const hosts = servingHosts(place)
    const made = await ensureServingCertificate({ client, namespace, hosts, now: systemClock.now, signal })
    await writeFile(files.privateKeyFile, made.privateKey, { mode: 0o600 })
    await writeFile(files.certificateFile, made.certificate)
    return made.authority
  }
  await authority()
  return { files, authority, forget: () => rm(folder, { recursive: true, force: true }) }
}

function servingHosts(place: WebhookTarget): readonly string[] {
  if ('url' in place) return [new URL(place.url).hostname.replace(/^\[|\]$/g, '')]
  const { name, namespace } = place.service
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
}
