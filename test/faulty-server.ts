/**
 * Serves ConfigMaps on loopback with faults on demand: each list or watch takes the next fault of its queue, and works
 * normally when the queue is empty. Discovery always works and is not counted.
 */
import type { ServerResponse } from 'node:http'
import type { KubeObject } from '../src/api/object.ts'
import {
  respondCoreDiscovery,
  respondJson,
  type ScriptedServer,
  type SeenRequest,
  startScriptedServer,
  statusObject,
} from './scripted-server.ts'

export type Fault =
  | { readonly kind: 'status'; readonly code: number; readonly retryAfterSeconds?: number }
  /** The connection is reset, before or after this many bytes of the response. */
  | { readonly kind: 'reset'; readonly afterBytes?: number }
  /** The response starts, and nothing follows. */
  | { readonly kind: 'silent' }
  /** The request is accepted, and no response starts. */
  | { readonly kind: 'mute' }
  | { readonly kind: 'malformed'; readonly line: string }
  /** Watches only: the stream ends. */
  | { readonly kind: 'close' }
  /** Watches only: an event in the stream says that the version has expired. */
  | { readonly kind: 'gone-event' }
  /** A few bytes at a time, with pauses. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly pauseMs: number }
  | { readonly kind: 'none' }

export interface FaultyServer {
  readonly url: string
  readonly lists: Fault[]
  readonly watches: Fault[]
  /** The requests: `list`, `list CONTINUE`, `watch VERSION`. */
  readonly requests: readonly string[]
  readonly put: (name: string, value: string) => void
  readonly remove: (name: string) => void
  /** The result of a list, by name. */
  readonly current: () => Readonly<Record<string, string>>
  /** Open watches that work. */
  readonly watching: () => number
  /** Ends every open watch: cleanly, or with a reset. */
  readonly endWatches: (how: 'close' | 'reset') => void
  /** Drops the history: older versions get 410. */
  readonly compact: () => void
  readonly allow: (token: string) => void
  readonly close: () => Promise<void>
}

interface Entry {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubeObject
}

export async function startFaultyServer(): Promise<FaultyServer> {
  const objects = new Map<string, KubeObject>()
  const lists: Fault[] = []
  const watches: Fault[] = []
  const asked: string[] = []
  const open = new Set<ServerResponse>()
  let history: Entry[] = []
  let version = 100
  let compactedTo = 0
  let token: string | undefined

  const happen = (type: Entry['type'], object: KubeObject): void => {
    const entry = { version, type, object }
    history.push(entry)
    for (const response of open) response.write(lineOf(entry))
  }

  const list = async (request: SeenRequest, response: ServerResponse): Promise<void> => {
    const limit = Number(request.query.get('limit') ?? 'Infinity')
    const start = Number(request.query.get('continue') ?? '0')
    const all = [...objects.values()]
    const next = start + limit < all.length ? String(start + limit) : undefined
    const metadata = { resourceVersion: String(version), ...(next && { continue: next }) }
    const body = JSON.stringify({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata,
      items: all.slice(start, start + limit),
    })
    await applyFault(lists.shift(), response, body, () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
  }

  const watch = async (request: SeenRequest, response: ServerResponse): Promise<void> => {
    const from = Number(request.query.get('resourceVersion'))
    if (from < compactedTo) return respondJson(response, statusObject(410, 'Expired', 'too old resource version'), 410)
    const missed = history.filter((entry) => entry.version > from).map(lineOf)
    const serve = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
      for (const line of missed) response.write(line)
      open.add(response)
      response.on('close', () => open.delete(response))
    }
    await applyFault(watches.shift(), response, missed.join(''), serve)
  }

  const server: ScriptedServer = await startScriptedServer((request, response) => {
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      asked.push('refused')
      return respondJson(response, statusObject(401, 'Unauthorized', 'Unauthorized'), 401)
    }
    if (respondCoreDiscovery(request, response)) return undefined
    if (request.query.has('watch')) {
      asked.push(`watch ${request.query.get('resourceVersion')}`)
      return watch(request, response)
    }
    const at = request.query.get('continue')
    asked.push(at ? `list ${at}` : 'list')
    return list(request, response)
  })

  return {
    url: server.url,
    lists,
    watches,
    requests: asked,
    put: (name, value) => {
      version += 1
      const metadata = { name, namespace: 'openstack', resourceVersion: String(version) }
      const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } }
      const type = objects.has(name) ? 'MODIFIED' : 'ADDED'
      objects.set(name, object)
      happen(type, object)
    },
    remove: (name) => {
      const object = objects.get(name)
      if (!object) return
      version += 1
      objects.delete(name)
      happen('DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    },
    current: () => valuesOf([...objects.values()]),
    watching: () => open.size,
    endWatches: (how) => {
      for (const response of open) {
        if (how === 'close') response.end()
        else response.socket?.resetAndDestroy()
      }
      open.clear()
    },
    compact: () => {
      compactedTo = version
      history = []
    },
    allow: (next) => {
      token = next
    },
    close: server.close,
  }
}

/** The values of ConfigMaps by name. */
export function valuesOf(objects: readonly KubeObject[]): Readonly<Record<string, string>> {
  const pairs = objects.map((object): [string, string] => [
    object.metadata.name,
    (object['data'] as { value: string }).value,
  ])
  return Object.fromEntries(pairs.sort(([a], [b]) => a.localeCompare(b)))
}

function lineOf({ type, object }: Entry): string {
  return `${JSON.stringify({ type, object })}\n`
}

/** Applies the fault, or serves. `body` is the start of a normal response. */
async function applyFault(
  fault: Fault = { kind: 'none' },
  response: ServerResponse,
  body: string,
  serve: () => void,
): Promise<void> {
  const begin = (): void => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
  }
  switch (fault.kind) {
    case 'none':
      return serve()
    case 'status': {
      const headers = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': fault.retryAfterSeconds }
      return respondJson(response, statusObject(fault.code, 'Broken', 'a bad day'), fault.code, headers)
    }
    case 'mute':
      return undefined
    case 'silent':
      return begin()
    case 'close':
      begin()
      response.end()
      return undefined
    case 'gone-event':
      begin()
      response.end(`${JSON.stringify({ type: 'ERROR', object: statusObject(410, 'Expired', 'too old') })}\n`)
      return undefined
    case 'malformed':
      begin()
      response.end(`${body}${fault.line}\n`)
      return undefined
    case 'reset':
      if (fault.afterBytes !== undefined) {
        begin()
        await new Promise((done) => response.write(body.slice(0, fault.afterBytes), done))
        await pause(20)
      }
      response.socket?.resetAndDestroy()
      return undefined
    case 'slow':
      begin()
      for (let at = 0; at < body.length; at += fault.bytes) {
        response.write(body.slice(at, at + fault.bytes))
        await pause(fault.pauseMs)
      }
      response.end()
      return undefined
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
