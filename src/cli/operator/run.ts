/**
 * `stackloom operator run`: puts the parts together, serves webhooks and health, and works until it is told to stop.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { type ExitCode, failure, reasonOf } from '../../errors/failure.ts'
import { infraOperatorRuns, kindsMissing } from '../../errors/operator.ts'
import { leadershipLost } from '../../errors/runtime.ts'
import { serveAdmission } from '../../kube/admission-server.ts'
import type { KubeClient } from '../../kube/client.ts'
import { systemClock } from '../../kube/clock.ts'
import type { Connection } from '../../kube/connect.ts'
import { createEventRecorder } from '../../kube/events.ts'
import { serveHealth } from '../../kube/health.ts'
import type { Log } from '../../kube/log.ts'
import { createMetrics, type Metrics } from '../../kube/metrics.ts'
import { createRuntime } from '../../kube/runtime.ts'
import type { CredentialFiles } from '../../pki/reload.ts'
import { servingCertificate } from '../../webhooks/certificates.ts'
import type { WebhookPlace } from '../../webhooks/registration.ts'
import { openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'
import type { RunOptions } from './options.ts'
import { parts } from './parts.ts'

const NAME = 'stackloom-operator'
const RENEW_EVERY_MS = 12 * 3_600_000

export async function runOperator(options: RunOptions, io: Io): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  const log: Log = (entry) => io.stderr(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
  const control = new AbortController()
  const stop = (): void => control.abort(io.stop.reason)
  if (io.stop.aborted) stop()
  io.stop.addEventListener('abort', stop)
  try {
    await refuseUnfit(connection.client, control.signal)
    return await work(connection, options, log, control)
  } finally {
    control.abort()
    io.stop.removeEventListener('abort', stop)
    await connection.close()
  }
}

async function refuseUnfit(client: KubeClient, signal: AbortSignal): Promise<void> {
  const kinds = parts.flatMap((part) => part.kinds)
  const served = await Promise.all(kinds.map((kind) => client.resource(kind)))
  const missing = kinds
    .filter((_, index) => !served[index])
    .map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
  if (missing.length > 0) throw failure(kindsMissing, { missing }, { exitCode: 2 })
  const { items } = await client.list(
    { apiVersion: 'apps/v1', kind: 'Deployment' },
    { fieldSelector: 'metadata.name=infra-operator-controller-manager', signal },
  )
  const rival = items.find((one) => (one['spec'] as { replicas?: number } | undefined)?.replicas !== 0)
  if (rival) {
    const { namespace = '', name } = rival.metadata
    throw failure(infraOperatorRuns, { deployment: `${namespace}/${name}` }, { exitCode: 1 })
  }
}

async function work(
  { client, namespace }: Connection,
  options: RunOptions,
  log: Log,
  control: AbortController,
): Promise<ExitCode> {
  const { signal } = control
  const identity = `${hostname()}_${randomUUID()}`
  const metrics = createMetrics({ clock: systemClock, process: true })
  const election = { namespace, name: NAME, identity }
  const runtime = createRuntime({ client, log, metrics, ...(options.leaderElection && { election }) })
  const recorder = createEventRecorder({
    client,
    controller: `stackloom.dev/${NAME}`,
    instance: identity,
    clock: systemClock,
    log,
  })
  const handlers = Object.assign(
    {},
    ...parts.map((part) => part.start({ runtime, metrics, record: recorder.record })),
  ) as Parameters<typeof serveAdmission>[0]['handlers']
  const { bind: host, healthPort } = options
  const health = await serveHealth({ host, port: healthPort, ready: runtime.ready, metrics }, signal)
  log({ level: 'info', message: 'health is served', port: health.port })
  const webhooks = await serveWebhooks({ client, namespace, options, handlers, metrics, log }, signal)
  const telling = recorder.run(signal)
  try {
    const end = await runtime.run(signal)
    if (end === 'lost') throw failure(leadershipLost, {}, { exitCode: 1 })
    return 0
  } finally {
    control.abort()
    await Promise.all([telling, health.stopped, webhooks?.stopped])
    await webhooks?.forget()
  }
}

interface Serving {
  readonly client: KubeClient
  readonly namespace: string
  readonly options: RunOptions
  readonly handlers: Parameters<typeof serveAdmission>[0]['handlers']
  readonly metrics: Metrics
  readonly log: Log
}

interface Webhooks {
  readonly stopped: Promise<void>
  /** Takes the private key off the disk. */
  readonly forget: () => Promise<void>
}

/** Served first, registered after: the API server is never told of a door that is not open. */
async function serveWebhooks(serving: Serving, signal: AbortSignal): Promise<Webhooks | undefined> {
  const { client, namespace, options, handlers, metrics, log } = serving
  const place = placeOf(options, namespace)
  if (!place) {
    log({ level: 'warn', message: 'no webhooks: neither --webhook-url nor --webhook-service is given' })
    return undefined
  }
  const keys = await credentials(place, serving, signal)
  const server = await serveAdmission(
    {
      host: options.bind,
      port: options.webhookPort,
      handlers,
      credentials: keys.files,
      log,
      observer: metrics.admission,
    },
    signal,
  )
  for (const part of parts) {
    for (const registration of part.registrations(place, keys.authority)) {
      await client.apply(registration, { fieldManager: NAME, signal })
    }
  }
  log({ level: 'info', message: 'webhooks are served', port: server.port })
  return { stopped: server.stopped, forget: keys.forget }
}

function placeOf({ webhookUrl, webhookService }: RunOptions, namespace: string): WebhookPlace | undefined {
  if (webhookUrl !== undefined) return { url: webhookUrl }
  return webhookService === undefined
    ? undefined
    : { service: { namespace, name: webhookService, port: 443 } }
}

interface Keys {
  readonly files: CredentialFiles
  readonly authority: string
  readonly forget: () => Promise<void>
}

async function credentials(
  place: WebhookPlace,
  { client, namespace, options, log }: Serving,
  signal: AbortSignal,
): Promise<Keys> {
  const filesIn = (folder: string): CredentialFiles => ({
    certificateFile: path.join(folder, 'tls.crt'),
    privateKeyFile: path.join(folder, 'tls.key'),
  })
  const { certDir } = options
  if (certDir !== undefined) {
    const authority = await readFile(path.join(certDir, 'ca.crt'), 'utf8')
    return { files: filesIn(certDir), authority, forget: async () => {} }
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-webhook-'))
  const files = filesIn(folder)
  const renew = async (): Promise<string> => {
    const made = await servingCertificate({
      client,
      namespace,
      hosts: hostsOf(place),
      now: systemClock.now,
      signal,
    })
    await writeFile(files.privateKeyFile, made.privateKey, { mode: 0o600 })
    await writeFile(files.certificateFile, made.certificate)
    return made.authority
  }
  const authority = await renew()
  void (async () => {
    while (!signal.aborted) {
      await systemClock.sleep(RENEW_EVERY_MS, signal)
      if (signal.aborted) return
      await renew().catch((error: unknown) =>
        log({ level: 'warn', message: 'the certificate could not be renewed', reason: reasonOf(error) }),
      )
    }
  })()
  return { files, authority, forget: () => rm(folder, { recursive: true, force: true }) }
}

function hostsOf(place: WebhookPlace): readonly string[] {
  if ('url' in place) return [new URL(place.url).hostname.replace(/^\[|\]$/g, '')]
  const { name, namespace } = place.service
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
}
