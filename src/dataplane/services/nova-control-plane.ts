/**
 * Talks to a running cloud: discovers hosts in the conductor's pod, counts instances and removes compute services over
 * Nova's API, and removes network agents over Neutron's.
 *
 * The cell names Keystone and the Secret of the password, but a password is sent only to the endpoints of the KeystoneAPI
 * in its namespace. Every unexpected answer is an error: a caller must not take no answer for zero instances.
 */
import { formatError } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import type { KubeReader } from '../../kube/client.ts'
import { execInPod } from '../../kube/pod-exec.ts'
import type { Transport } from '../../kube/transport.ts'
import type { WriteGuard } from '../../kube/write-guard.ts'
import { openComputeHost } from '../../openstack/compute-host.ts'
import { type CloudApi, CloudApiError, openSession, pathSegment, readEntries } from '../../openstack/session.ts'
import { secretKind, secretValue } from '../caches.ts'
import { foreignKeystone } from '../findings/data-plane.ts'
import { type NovaCell, novaCells } from '../kinds/nova.ts'

export type InstanceCount =
  | { readonly kind: 'known'; readonly count: number }
  | { readonly kind: 'unknown'; readonly why: string }

export interface ComputeHost {
  readonly namespace: string
  readonly host: string
  readonly cell: NovaCell
}

/** What the data plane controllers need from a running cloud. Each function throws when it fails. */
export interface ControlPlane {
  /** Maps the new host into its cell. */
  readonly discoverHosts: (compute: ComputeHost, signal: AbortSignal) => Promise<void>
  readonly countInstances: (compute: ComputeHost, signal: AbortSignal) => Promise<InstanceCount>
  /** Removes the compute service of the host from its cell. */
  readonly removeCompute: (compute: ComputeHost, signal: AbortSignal) => Promise<void>
  /** Removes the network agents of a host that runs none any more. A namespace without Keystone has no such agents. */
  readonly removeAgents: (host: Omit<ComputeHost, 'cell'>, signal: AbortSignal) => Promise<void>
}

/** Turns a failure into `unknown`, which a caller can report. */
export async function tryCountInstances(
  controlPlane: Pick<ControlPlane, 'countInstances'>,
  compute: ComputeHost,
  signal: AbortSignal,
): Promise<InstanceCount> {
  try {
    return await controlPlane.countInstances(compute, signal)
  } catch (error) {
    return { kind: 'unknown', why: formatError(error) }
  }
}

export interface CloudAccess {
  readonly client: Pick<KubeReader, 'get' | 'list'>
  readonly transport: Transport
  /** Called when a command or a DELETE is about to be sent; nothing is sent when it throws. */
  readonly guard: WriteGuard
  readonly timeoutMs?: number
}

/** On pods of the sandbox, in which nothing can be executed. */
const SIMULATED_ANNOTATION = 'sandbox.stackloom.dev/played'
const TIMEOUT_MS = 30_000
/** The certificate authorities of the cloud, where it uses TLS. */
const CA_SECRET = 'combined-ca-bundle'
const CA_KEY = 'tls-ca-bundle.pem'
export const keystoneApis = { apiVersion: 'keystone.openstack.org/v1beta1', kind: 'KeystoneAPI' } as const

export function createNovaControlPlane(access: CloudAccess): ControlPlane {
  const { client, transport, guard, timeoutMs = TIMEOUT_MS } = access
  return {
    discoverHosts: async ({ namespace, cell }, signal) => {
      const pod = `${novaName(cell)}-cell0-conductor-0`
      const found = await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: pod }, { signal })
      if (!found) throw new Error(`pod ${pod} does not exist`)
      if (found.metadata.annotations?.[SIMULATED_ANNOTATION] !== undefined) return
      const command = ['nova-manage', 'cell_v2', 'discover_hosts']
      const { exitCode, stderr } = await execInPod(transport, { namespace, pod, command, timeoutMs, signal, guard })
      if (exitCode !== 0) throw new Error(stderr.trim().split('\n').at(-1) || `nova-manage ended with ${exitCode}`)
    },
    countInstances: async (compute, signal) => {
      const nova = await openNovaApi(access, compute, signal)
      const answer = await nova('GET', `/servers?all_tenants=1&host=${encodeURIComponent(compute.host)}`)
      return { kind: 'known', count: readEntries(answer, 'servers').length }
    },
    removeCompute: async (compute, signal) => {
      const nova = await openNovaApi(access, compute, signal)
      const host = encodeURIComponent(compute.host)
      const answer = await nova('GET', `/os-services?binary=nova-compute&host=${host}`)
      for (const { id } of readEntries<{ readonly id: unknown }>(answer, 'services'))
        await nova('DELETE', `/os-services/${pathSegment(id)}`)
    },
    removeAgents: async ({ namespace, host }, signal) => {
      const { items: keystones } = await client.list(keystoneApis, { namespace, signal })
      const { items } = await client.list(novaCells, { namespace, signal })
      const cell = (items as readonly NovaCell[]).find(({ spec }) => spec?.keystoneAuthURL)
      if (keystones.length === 0 || !cell) return
      const { listAgents, deleteAgent } = openComputeHost(await openCloud(access, { namespace, cell }, signal), host)
      for (const { id } of await listAgents())
        await deleteAgent(id).catch((error: unknown) => {
          if (!(error instanceof CloudApiError && error.status === 404)) throw error
        })
    },
  }
}

/** `nova` for the NovaCell `nova-cell1` with the cell `cell1`. */
function novaName({ metadata, spec }: NovaCell): string {
  const tail = `-${spec.cellName ?? ''}`
  return metadata.name.endsWith(tail) ? metadata.name.slice(0, -tail.length) : 'nova'
}

type NovaApi = (method: 'GET' | 'DELETE', path: string) => Promise<unknown>

async function openNovaApi(access: CloudAccess, compute: ComputeHost, stop: AbortSignal): Promise<NovaApi> {
  const api = await openCloud(access, compute, stop)
  return (method, path) => api('compute', method, path)
}

async function openCloud(
  { client, guard, timeoutMs = TIMEOUT_MS }: CloudAccess,
  { namespace, cell }: Omit<ComputeHost, 'host'>,
  stop: AbortSignal,
): Promise<CloudApi> {
  const { keystoneAuthURL, serviceUser = 'nova', secret = '' } = cell.spec
  if (!keystoneAuthURL) throw new Error(`NovaCell ${cell.metadata.name} has no keystoneAuthURL`)
  await requireOwnKeystone(client, namespace, keystoneAuthURL, stop)
  const password = secretValue(
    await client.get({ ...secretKind, namespace, name: secret }, { signal: stop }),
    'ServicePassword',
  )
  if (password === undefined) throw new Error(`secret/${secret} has no ServicePassword`)
  const bundle = await client.get({ ...secretKind, namespace, name: CA_SECRET }, { signal: stop })
  const ca = secretValue(bundle, CA_KEY)
  return openSession({
    authUrl: keystoneAuthURL,
    user: serviceUser,
    password,
    project: 'service',
    interface: 'internal',
    ...(ca !== undefined && { ca }),
    guard,
    // Of all requests together.
    signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
    timeoutMs,
  })
}

/** Throws unless the URL is an endpoint of a KeystoneAPI in the namespace of the cell. */
async function requireOwnKeystone(
  client: CloudAccess['client'],
  namespace: string,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const { items } = await client.list(keystoneApis, { namespace, signal })
  const endpoints = items.flatMap((keystone) => {
    const { apiEndpoints = {} } = (keystone['status'] ?? {}) as { readonly apiEndpoints?: Record<string, string> }
    return Object.values(apiEndpoints)
  })
  const origin = parseOrigin(url)
  if (origin !== undefined && endpoints.some((endpoint) => parseOrigin(endpoint) === origin)) return
  const { message, remedy } = finding(foreignKeystone, { namespace, url: origin ?? 'no URL' })
  throw new Error(`${message}; ${remedy}`)
}

/** Scheme, host and port; undefined for anything but HTTP. */
function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  return url && ['http:', 'https:'].includes(url.protocol) && !url.username ? url.origin : undefined
}
