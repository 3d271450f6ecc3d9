/**
 * The writing side of an operator on a real API server: events, admission, reconciliation.
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type KubeObject, objectKey } from '../../../src/api/object.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import type { AdmissionRequest, AdmissionResponse } from '../../../src/kube/admission.ts'
import { serveAdmission } from '../../../src/kube/admission-server.ts'
import { isApiError } from '../../../src/kube/api-error.ts'
import { loadAccess } from '../../../src/kube/cluster-access.ts'
import { createEventRecorder } from '../../../src/kube/event-recorder.ts'
import { createKubeClient } from '../../../src/kube/http-client.ts'
import { createRuntime } from '../../../src/kube/runtime.ts'
import { openTransport } from '../../../src/kube/transport.ts'
import { type Authority, createAuthority } from '../../../src/pki/authority.ts'
import { readCredentialFolder } from '../../../src/pki/watch-credentials.ts'
import { useCluster } from '../../cluster.ts'

const cluster = useCluster({ crds: 'none' })
const namespace = 'openstack'

function configMap(name: string, data: Readonly<Record<string, string>> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
}

beforeAll(async () => {
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

const soon = { timeout: 15_000, interval: 10 }

describe('events on a real API server', () => {
  it('are accepted, become series, and are found by their object', async () => {
    const regarding = await cluster.client.create(configMap('talked-about'))
    const recorder = createEventRecorder({
      client: cluster.client,
      controller: 'stackloom.io/test',
      instance: 'test-0',
      clock: systemClock,
      settings: { seriesIntervalMs: 50 },
    })
    const control = new AbortController()
    const running = recorder.run(control.signal)
    const happening = {
      regarding,
      type: 'Warning',
      reason: 'PoolExhausted',
      action: 'Allocate',
      note: `no address is left ${'ü'.repeat(2_000)}`,
    } as const
    const events = async (): Promise<readonly KubeObject[]> => {
      const options = { namespace, fieldSelector: 'regarding.name=talked-about' }
      return (await cluster.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, options)).items
    }
    recorder.record(happening)
    await expect.poll(async () => (await events()).length, soon).toBe(1)
    for (let time = 0; time < 9; time += 1) recorder.record(happening)
    const count = async (): Promise<unknown> =>
      ((await events())[0]?.['series'] as { count: number } | undefined)?.count
    await expect.poll(count, soon).toBe(10)
    expect(await events()).toHaveLength(1)
    control.abort()
    await running
    expect(recorder.dropped()).toBe(0)
  })
})

describe('webhooks called by a real API server', () => {
  let folder: string
  let authority: Authority
  let port: number
  let stop: () => Promise<void>
  const seen: AdmissionRequest[] = []

  const judge = (request: AdmissionRequest): AdmissionResponse => {
    seen.push(request)
    const data = (request.object?.['data'] ?? {}) as Readonly<Record<string, string>>
    const causes = Object.keys(data)
      .filter((name) => name.startsWith('bad'))
      .map((name) => ({ field: `data.${name}`, message: 'is bad', reason: 'FieldValueForbidden' }))
    if (data['crash']) throw new Error('cannot judge')
    return { allowed: causes.length === 0, causes, warnings: data['odd'] ? ['this is odd'] : [] }
  }
  const mutate = ({ object }: AdmissionRequest): AdmissionResponse => {
    const labels = object?.metadata.labels
    const patch = labels
      ? [{ op: 'add', path: '/metadata/labels/stackloom.io~1seen', value: 'yes' } as const]
      : [{ op: 'add', path: '/metadata/labels', value: { 'stackloom.io/seen': 'yes' } } as const]
    return { allowed: true, patch }
  }

  async function issue(): Promise<void> {
    const pair = await authority.issue({ commonName: 'webhook', hosts: ['127.0.0.1'], uses: ['server'] })
    await writeFile(path.join(folder, 'new.key'), pair.privateKey)
    await writeFile(path.join(folder, 'new.crt'), pair.certificate)
    await rename(path.join(folder, 'new.key'), path.join(folder, 'tls.key'))
    await rename(path.join(folder, 'new.crt'), path.join(folder, 'tls.crt'))
  }

  function configuration(kind: 'Validating' | 'Mutating', failurePolicy = 'Fail'): KubeObject {
    const path = kind === 'Validating' ? 'validate' : 'mutate'
    const caBundle = Buffer.from(authority.certificate).toString('base64')
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: `stackloom-test-${path}` },
      webhooks: [
        {
          name: `${path}.test.stackloom.io`,
          clientConfig: { url: `https://127.0.0.1:${port}/${path}`, caBundle },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['configmaps'],
            },
          ],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          objectSelector: { matchLabels: { reviewed: 'yes' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          timeoutSeconds: 2,
          failurePolicy,
        },
      ],
    }
  }

  function reviewed(name: string, data: Readonly<Record<string, string>>): KubeObject {
    const plain = configMap(name, data)
    return { ...plain, metadata: { ...plain.metadata, labels: { reviewed: 'yes' } } }
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stackloom-webhook-'))
    authority = await createAuthority({ commonName: 'webhook' })
    await issue()
    const control = new AbortController()
    const server = await serveAdmission(
      {
        host: '127.0.0.1',
        port: 0,
        handlers: { '/validate': judge, '/mutate': mutate },
        credentials: { read: () => readCredentialFolder(folder), pollMs: 20 },
      },
      control.signal,
    )
    port = server.port
    stop = async () => {
      control.abort()
      await server.stopped
    }
    await cluster.expose(port)
    for (const kind of ['Validating', 'Mutating'] as const) await cluster.client.create(configuration(kind))
    // The API server receives its webhook configurations by a watch.
    await vi.waitFor(async () => {
      const created = await cluster.client.apply(reviewed('probe', {}), { fieldManager: 'test' })
      expect(created.metadata.labels).toMatchObject({ 'stackloom.io/seen': 'yes' })
      expect(seen.length).toBeGreaterThan(0)
    }, soon)
  })
  afterAll(async () => {
    for (const kind of ['Validating', 'Mutating'] as const) {
      const { apiVersion, kind: of, metadata } = configuration(kind)
      await cluster.client.delete({ apiVersion, kind: of, name: metadata.name })
    }
    await stop?.()
    await rm(folder, { recursive: true })
  })

  it('deny with the invalid fields', async () => {
    const refused = await cluster.client
      .create(reviewed('refused', { bad1: 'x', bad2: 'y', good: 'z' }))
      .catch((error: unknown) => error)
    expect(isApiError(refused, 'denied', 'invalid')).toBe(true)
    if (!isApiError(refused)) return
    expect(refused.status).toBe(422)
    expect(refused.causes).toEqual([
      { path: 'data.bad1', message: 'is bad' },
      { path: 'data.bad2', message: 'is bad' },
    ])
    expect(refused.message).toContain('data.bad1: is bad; data.bad2: is bad')
  })

  it('receive the old object', async () => {
    await cluster.client.create(reviewed('updated', { value: 'old' }))
    await cluster.client.apply(reviewed('updated', { value: 'new' }), { fieldManager: 'test', force: true })
    expect(seen.at(-1)).toMatchObject({
      operation: 'UPDATE',
      object: { data: { value: 'new' } },
      oldObject: { data: { value: 'old' } },
    })
  })

  it('warn the client', async () => {
    const access = await loadAccess({ kubeconfig: cluster.kubeconfig, env: {}, clock: systemClock })
    const warnings: string[] = []
    const transport = openTransport(access, { onWarning: (text) => warnings.push(text) })
    await createKubeClient(transport).create(reviewed('odd', { odd: 'yes' }))
    expect(warnings).toEqual(['this is odd'])
    await transport.close()
  })

  it('that cannot decide leave it to the failure policy', async () => {
    const attempt = cluster.client.create(reviewed('crash', { crash: 'yes' }), {
      signal: AbortSignal.timeout(4_000),
    })
    await expect(attempt).rejects.toThrow()
    const ignoring = configuration('Validating', 'Ignore')
    await cluster.client.apply(ignoring, { fieldManager: 'test', force: true })
    await expect
      .poll(
        () =>
          cluster.client.create(reviewed('crash', { crash: 'yes' }), { signal: AbortSignal.timeout(1_000) }).then(
            () => 'made',
            (error: Error) => error.message,
          ),
        soon,
      )
      .toBe('made')
    await cluster.client.apply(configuration('Validating'), { fieldManager: 'test', force: true })
  })

  it('continue with a renewed certificate', async () => {
    await issue()
    await new Promise((resolve) => setTimeout(resolve, 200))
    const created = await cluster.client.create(reviewed('renewed', {}))
    expect(created.metadata.labels).toMatchObject({ 'stackloom.io/seen': 'yes' })
  })
})

describe('a controller on a real API server', () => {
  it('reaches the desired state, and again after a manual change', async () => {
    const runtime = createRuntime({ client: cluster.client, freeze: true })
    const source = { kind: { apiVersion: 'v1', kind: 'ConfigMap' }, namespace, labelSelector: 'copy=wanted' }
    const copies = { ...source, labelSelector: 'copy=made' }
    const originals = runtime.cache(source)
    runtime.add({
      name: 'copier',
      workers: 4,
      watches: [
        source,
        {
          ...copies,
          map: ({ metadata }) => [objectKey({ ...metadata, name: metadata.name.replace(/-copy$/, '') })],
        },
      ],
      reconcile: async (request, { signal }) => {
        const original = originals.get(objectKey(request))
        const name = `${request.name}-copy`
        if (!original)
          return void (await runtime.client.delete(
            { apiVersion: 'v1', kind: 'ConfigMap', namespace, name },
            { signal },
          ))
        const copy = { ...configMap(name, original['data'] as Record<string, string>) }
        await runtime.client.apply(
          { ...copy, metadata: { ...copy.metadata, labels: { copy: 'made' } } },
          { fieldManager: 'copier', force: true, signal },
        )
      },
    })
    const control = new AbortController()
    const running = runtime.run(control.signal)
    const names = Array.from({ length: 20 }, (_, at) => `original-${at}`)
    const make = (name: string, value: string): Promise<KubeObject> => {
      const plain = configMap(name, { value })
      const object = { ...plain, metadata: { ...plain.metadata, labels: { copy: 'wanted' } } }
      return cluster.client.apply(object, { fieldManager: 'test', force: true })
    }
    const copiedValues = async (): Promise<readonly string[]> => {
      const { items } = await cluster.client.list(copies.kind, {
        namespace,
        labelSelector: copies.labelSelector,
      })
      return items.map((item) => (item['data'] as { value: string }).value)
    }
    await Promise.all(names.map((name) => make(name, 'first')))
    await expect.poll(copiedValues, soon).toEqual(names.map(() => 'first'))
    await make('original-3', 'second')
    await cluster.client.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'original-4-copy' })
    await cluster.client.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'original-5' })
    await expect
      .poll(async () => (await copiedValues()).toSorted(), soon)
      .toEqual([...names.slice(2).map(() => 'first'), 'second'])
    control.abort()
    expect(await running).toBe('stopped')
  })
})
