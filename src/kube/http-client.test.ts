import { afterEach, describe, expect, it } from 'vitest'
import { instantClock } from '../../test/instant-clock.ts'
import {
  type RequestScript,
  respondCoreDiscovery,
  respondJson,
  type ScriptedServer,
  startScriptedServer,
  statusObject,
} from '../../test/scripted-server.ts'
import type { KubeObject } from '../api/object.ts'
import type { KubeClient, WatchEvent, WatchOptions } from './client.ts'
import { fixedCredential } from './credential.ts'
import { createKubeClient } from './http-client.ts'
import { openTransport } from './transport.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' }
const object: KubeObject = { ...configMap, metadata: { name: 'a', namespace: 'ns' }, data: { key: 'value' } }
const ref = { ...configMap, name: 'a', namespace: 'ns' }

const open: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.close()))
})

/** A client, and a server that serves discovery of the core group and runs a script for the rest. */
async function clientFor(
  script: RequestScript,
): Promise<{ client: KubeClient; server: ScriptedServer; requests: () => readonly string[] }> {
  const server = await startScriptedServer((seen, answer) =>
    respondCoreDiscovery(seen, answer) ? undefined : script(seen, answer),
  )
  const credential = fixedCredential('user', { headers: {} })
  const access = {
    server: server.url,
    context: undefined,
    namespace: 'default',
    tls: {},
    proxy: undefined,
    credential,
  }
  const transport = openTransport(access, { clock: instantClock() })
  open.push(transport, server)
  const requests = () =>
    server.seen.map(
      (seenRequest) =>
        `${seenRequest.method} ${seenRequest.path}${seenRequest.query.size > 0 ? `?${seenRequest.query.toString()}` : ''}`,
    )
  return { client: createKubeClient(transport), server, requests }
}

const echo: RequestScript = ({ body }, answer) =>
  respondJson(answer, body.includes('metadata') ? JSON.parse(body) : object)

describe('the client', () => {
  it('discovers a kind once for concurrent requests', async () => {
    const { client, requests } = await clientFor(echo)
    await Promise.all([
      client.get(ref),
      client.get(ref),
      client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'b' }),
    ])
    expect([...requests()].sort()).toEqual([
      'GET /api/v1',
      'GET /api/v1/namespaces/b',
      'GET /api/v1/namespaces/ns/configmaps/a',
      'GET /api/v1/namespaces/ns/configmaps/a',
    ])
  })

  it('looks up a missing kind again, because CRDs are installed later', async () => {
    let installed = false
    const { client } = await clientFor(({ path }, answer) => {
      if (!installed) return void answer.writeHead(404).end('404 page not found')
      const resources = [{ name: 'pools', kind: 'Pool', namespaced: true, verbs: [] }]
      return respondJson(answer, path === '/apis/x.io/v1' ? { resources } : { items: [], metadata: {} })
    })
    const pool = { apiVersion: 'x.io/v1', kind: 'Pool' }
    expect(await client.resource(pool)).toBeUndefined()
    expect(await client.get({ ...pool, name: 'a' })).toBeUndefined()
    await expect(client.list(pool)).rejects.toMatchObject({
      kind: 'not-served',
      findings: [{ code: 'SL1112' }],
    })
    installed = true
    expect(await client.resource(pool)).toMatchObject({ plural: 'pools', namespaced: true })
    expect((await client.list(pool)).items).toEqual([])
  })

  it('writes with strict validation, the field manager and, when requested, as a dry run', async () => {
    const { client, server, requests } = await clientFor(echo)
    await client.create(object, { fieldManager: 'stackloom', dryRun: true })
    await client.update(object, { subresource: 'status' })
    await client.apply(object, { fieldManager: 'stackloom' })
    await client.apply(object, { fieldManager: 'stackloom', force: true, subresource: 'status' })
    await client.patch(ref, [{ op: 'remove', path: '/data' }], { type: 'json' })
    await client.patch(ref, { data: null }, { type: 'merge', subresource: 'status' })
    const at = '/api/v1/namespaces/ns/configmaps'
    expect(requests().slice(1)).toEqual([
      `POST ${at}?fieldManager=stackloom&fieldValidation=Strict&dryRun=All`,
      `PUT ${at}/a/status?fieldValidation=Strict`,
      `PATCH ${at}/a?fieldManager=stackloom&fieldValidation=Strict`,
      `PATCH ${at}/a/status?fieldManager=stackloom&fieldValidation=Strict&force=true`,
      `PATCH ${at}/a?fieldValidation=Strict`,
      `PATCH ${at}/a/status?fieldValidation=Strict`,
    ])
    expect(server.seen.slice(3).map((seenRequest) => seenRequest.headers['content-type'])).toEqual([
      'application/apply-patch+yaml',
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
  })

  it('sends objects unchanged', async () => {
    const odd = { ...object, from: 1, $ref: { 'x-kubernetes-y': [null, 0, ''] }, default: { enum: [] } }
    const { client, server } = await clientFor(echo)
    expect(await client.apply(odd, { fieldManager: 'x' })).toEqual(odd)
    expect(JSON.parse(server.seen[1]?.body ?? '')).toEqual(odd)
  })

  it('deletes with preconditions and propagation, and returns whether the object existed', async () => {
    const { client, server } = await clientFor(({ index }, answer) =>
      index === 1
        ? respondJson(answer, statusObject(200, '', ''))
        : respondJson(answer, statusObject(404, 'NotFound', 'x', { name: 'a' }), 404),
    )
    const options = { propagation: 'Foreground', preconditions: { uid: 'u', resourceVersion: '7' } } as const
    expect(await client.delete(ref, options)).toBe(true)
    expect(await client.delete(ref)).toBe(false)
    expect(JSON.parse(server.seen[1]?.body ?? '')).toMatchObject({
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u', resourceVersion: '7' },
    })
  })

  it('requires the namespace of a namespaced object before it asks the server', async () => {
    const { client, requests } = await clientFor(echo)
    const homeless = { ...object, metadata: { name: 'a' } }
    for (const write of [client.create(homeless), client.apply(homeless, { fieldManager: 'x' })]) {
      await expect(write).rejects.toMatchObject({
        kind: 'invalid',
        findings: [{ code: 'SL1111', where: { kind: 'ConfigMap', name: 'a', path: 'metadata.namespace' } }],
      })
    }
    expect(requests()).toEqual(['GET /api/v1'])
  })

  it('rejects a response that is not an object', async () => {
    const { client } = await clientFor((_, answer) => respondJson(answer, null))
    await expect(client.get(ref)).rejects.toMatchObject({ kind: 'malformed' })
    await expect(client.list(configMap)).rejects.toMatchObject({ kind: 'malformed' })
  })
})

describe('a list', () => {
  const page = (names: readonly string[], next?: string) => ({
    kind: 'ConfigMapList',
    metadata: { resourceVersion: '9', ...(next && { continue: next }) },
    items: names.map((name) => ({ metadata: { name } })),
  })

  it('follows all pages and adds the kind to its items', async () => {
    const { client, requests } = await clientFor(({ query }, answer) =>
      respondJson(answer, query.get('continue') === 'more' ? page(['c']) : page(['a', 'b'], 'more')),
    )
    const { items, resourceVersion } = await client.list(configMap, {
      namespace: 'ns',
      labelSelector: 'x=y',
      limit: 2,
    })
    expect(items).toEqual(['a', 'b', 'c'].map((name) => ({ ...configMap, metadata: { name } })))
    expect(resourceVersion).toBe('9')
    expect(requests().slice(1)).toEqual([
      'GET /api/v1/namespaces/ns/configmaps?limit=2&labelSelector=x%3Dy',
      'GET /api/v1/namespaces/ns/configmaps?limit=2&continue=more&labelSelector=x%3Dy',
    ])
  })

  it.each(['.', '..', 'a/status', 'a%2f'])(
    'sends no request for an object called %j: its path would be that of another one',
    async (name) => {
      const { client, requests } = await clientFor((_, answer) => respondJson(answer, { metadata: { name: 'ns' } }))
      const ref = { ...configMap, namespace: 'ns', name }
      expect(await client.get(ref)).toBeUndefined()
      expect(await client.delete(ref)).toBe(false)
      await expect(
        client.apply({ ...configMap, metadata: { namespace: 'ns', name } }, { fieldManager: 't' }),
      ).rejects.toThrow('is rejected: metadata.name')
      expect(requests().filter((request) => request.includes('/ns'))).toEqual([])
    },
  )

  it('transforms every item', async () => {
    const { client } = await clientFor(({ query }, answer) =>
      respondJson(answer, query.get('continue') === 'more' ? page(['b']) : page(['a'], 'more')),
    )
    const transform = ({ metadata, ...rest }: KubeObject): KubeObject => ({
      ...rest,
      metadata: { name: metadata.name.toUpperCase() },
    })
    const { items } = await client.list(configMap, { transform })
    expect(items.map((item) => item.metadata.name)).toEqual(['A', 'B'])
  })

  it('that expires between pages is restarted, without mixing two versions', async () => {
    let cuts = 0
    const { client } = await clientFor(({ query }, answer) => {
      if (!query.has('continue')) return respondJson(answer, page([`first-${cuts}`], 'more'))
      if (cuts++ === 0) return respondJson(answer, statusObject(410, 'Expired', 'too old'), 410)
      return respondJson(answer, page(['last']))
    })
    expect((await client.list(configMap)).items.map((item) => item.metadata.name)).toEqual(['first-1', 'last'])
  })

  it('that always expires is requested in one piece, so that it ends', async () => {
    const { client, requests } = await clientFor(({ query }, answer) => {
      if (query.has('continue')) return respondJson(answer, statusObject(410, 'Expired', 'too old'), 410)
      return respondJson(answer, query.has('limit') ? page(['a'], 'more') : page(['a', 'b']))
    })
    expect((await client.list(configMap)).items).toHaveLength(2)
    expect(requests()).toHaveLength(1 + 2 + 2 + 1)
  })
})

describe('a watch', () => {
  async function events(script: RequestScript, options: Partial<WatchOptions> = {}) {
    const { client, requests } = await clientFor(script)
    const seen: WatchEvent[] = []
    const ended = (async () => {
      for await (const event of client.watch(configMap, { resourceVersion: '5', ...options })) seen.push(event)
    })()
    return { seen, ended, requests }
  }
  const line = (type: string, body: unknown): string => `${JSON.stringify({ type, object: body })}\n`

  it('returns events and bookmarks in order, wherever the chunks are split', async () => {
    const text = Buffer.from(
      line('ADDED', { ...object, data: { key: 'ä€😀' } }) +
        line('BOOKMARK', { metadata: { resourceVersion: '8' } }) +
        line('DELETED', object),
    )
    const { seen, ended, requests } = await events(async (_, answer) => {
      for (let at = 0; at < text.length; at += 7) {
        answer.write(text.subarray(at, at + 7))
        await new Promise((resolve) => setImmediate(resolve))
      }
      answer.end()
    })
    await ended
    expect(seen).toEqual([
      { kind: 'added', object: { ...object, data: { key: 'ä€😀' } } },
      { kind: 'bookmark', resourceVersion: '8' },
      { kind: 'deleted', object },
    ])
    expect(requests()[1]).toBe('GET /api/v1/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=5')
  })

  it.each([
    ['an ERROR event', line('ERROR', statusObject(410, 'Expired', 'too old resource version')), 'expired'],
    ['a line that is no JSON', 'oops\n', 'malformed'],
    ['an event within which it ends', line('ADDED', object).slice(0, 20), 'malformed'],
    ['an unknown type', line('RENAMED', object), 'malformed'],
    ['an event without an object', line('ADDED', null), 'malformed'],
  ])('returns the events before %s and then throws', async (_, bad, kind) => {
    const { seen, ended } = await events((__, answer) => void answer.end(line('ADDED', object) + bad))
    await expect(ended).rejects.toMatchObject({ kind })
    expect(seen).toHaveLength(1)
  })

  it('that is rejected throws the error of the server and is not retried', async () => {
    const { ended, requests } = await events((_, answer) => respondJson(answer, statusObject(500, '', 'no'), 500))
    await expect(ended).rejects.toMatchObject({ kind: 'failing' })
    expect(requests()).toHaveLength(2)
  })

  it('over a silent connection ends with a timeout', async () => {
    const { ended } = await events((_, answer) => answer.writeHead(200).flushHeaders(), { idleMs: 50 })
    await expect(ended).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('over a connection that is cut throws', async () => {
    const { seen, ended } = await events((_, answer) => {
      answer.write(line('ADDED', object))
      setTimeout(() => answer.socket?.destroy(), 20)
    })
    await expect(ended).rejects.toMatchObject({ kind: 'unreachable' })
    expect(seen).toHaveLength(1)
  })

  it('ends without an error when its signal is aborted, or when its reader stops', async () => {
    const stop = new AbortController()
    const { ended } = await events((_, answer) => void answer.write(line('ADDED', object)), {
      signal: stop.signal,
    })
    setTimeout(() => stop.abort(), 30)
    await ended

    let closed = false
    const { client } = await clientFor((_, answer) => {
      answer.on('close', () => (closed = true))
      answer.write(line('ADDED', object))
    })
    for await (const event of client.watch(configMap, { resourceVersion: '1' })) if (event.kind === 'added') break
    await expect.poll(() => closed).toBe(true)
  })
})
