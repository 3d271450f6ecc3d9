/**
 * An API server of ConfigMaps on loopback that keeps the truth and has faults on demand: each list or watch takes the
 * next fault from its row, and is served well once the row is empty. Discovery always works and is not counted.
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
  /** The connection is reset, before a byte or after so many bytes of the answer. */
  | { readonly kind: 'reset'; readonly afterBytes?: number }
  /** The answer begins, and nothing follows. */
  | { readonly kind: 'silent' }
  /** The request is taken, and no answer begins. */
  | { readonly kind: 'mute' }
  | { readonly kind: 'malformed'; readonly line: string }
  /** Watches only: the stream ends without a word. */
  | { readonly kind: 'close' }
  /** Watches only: the version is forgotten, as an event in the stream. */
  | { readonly kind: 'gone-event' }
  /** Byte by byte, with a pause after each few. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly pauseMs: number }
  | { readonly kind: 'none' }

export interface FaultyServer {
  readonly url: string
  readonly lists: Fault[]
  readonly watches: Fault[]
  /** What was asked: `list`, `list CONTINUE`, `watch VERSION`. */
  readonly requests: readonly string[]
  readonly put: (name: string, value: string) => void
  readonly remove: (name: string) => void
  /** What a fresh list would give, by name. */
  readonly current: () => Readonly<Record<string, string>>
  /** Watches that are open and served. */
  readonly watching: () => number
  /** Ends every open watch: cleanly, or with a reset. */
  readonly endWatches: (how: 'close' | 'reset') => void
  /** Forgets the history: older versions are answered with 410. */
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
  let forgotten = 0
  let token: string | undefined

  const happen = (type: Entry['type'], object: KubeObject): void => {
    const entry = { version, type, object }
    history.push(entry)
    for (const answer of open) answer.write(lineOf(entry))
  }

  const list = async (request: SeenRequest, answer: ServerResponse): Promise<void> => {
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
    await suffer(lists.shift(), answer, body, () => {
      answer.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
  }

  const watch = async (request: SeenRequest, answer: ServerResponse): Promise<void> => {
    const from = Number(request.query.get('resourceVersion'))
    if (from < forgotten) return respondJson(answer, statusObject(410, 'Expired', 'too old resource version'), 410)
    const missed = history.filter((entry) => entry.version > from).map(lineOf)
    const serve = (): void => {
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.flushHeaders()
      for (const line of missed) answer.write(line)
      open.add(answer)
      answer.on('close', () => open.delete(answer))
    }
    await suffer(watches.shift(), answer, missed.join(''), serve)
  }

  const played: ScriptedServer = await startScriptedServer((request, answer) => {
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      asked.push('refused')
      return respondJson(answer, statusObject(401, 'Unauthorized', 'Unauthorized'), 401)
    }
    if (respondCoreDiscovery(request, answer)) return undefined
    if (request.query.has('watch')) {
      asked.push(`watch ${request.query.get('resourceVersion')}`)
      return watch(request, answer)
    }
    const at = request.query.get('continue')
    asked.push(at ? `list ${at}` : 'list')
    return list(request, answer)
  })

  return {
    url: played.url,
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
      for (const answer of open) {
        if (how === 'close') answer.end()
        else answer.socket?.resetAndDestroy()
      }
      open.clear()
    },
    compact: () => {
      forgotten = version
      history = []
    },
    allow: (next) => {
      token = next
    },
    close: played.close,
  }
}

/** What a list of ConfigMaps says, by name. */
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

/** Does the fault, or serves. `body` is what a good answer would have begun with. */
async function suffer(
  fault: Fault = { kind: 'none' },
  answer: ServerResponse,
  body: string,
  serve: () => void,
): Promise<void> {
  const begin = (): void => {
    answer.writeHead(200, { 'content-type': 'application/json' })
    answer.flushHeaders()
  }
  switch (fault.kind) {
    case 'none':
      return serve()
    case 'status': {
      const headers = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': fault.retryAfterSeconds }
      return respondJson(answer, statusObject(fault.code, 'Broken', 'a bad day'), fault.code, headers)
    }
    case 'mute':
      return undefined
    case 'silent':
      return begin()
    case 'close':
      begin()
      answer.end()
      return undefined
    case 'gone-event':
      begin()
      answer.end(`${JSON.stringify({ type: 'ERROR', object: statusObject(410, 'Expired', 'too old') })}\n`)
      return undefined
    case 'malformed':
      begin()
      answer.end(`${body}${fault.line}\n`)
      return undefined
    case 'reset':
      if (fault.afterBytes !== undefined) {
        begin()
        await new Promise((done) => answer.write(body.slice(0, fault.afterBytes), done))
        await pause(20)
      }
      answer.socket?.resetAndDestroy()
      return undefined
    case 'slow':
      begin()
      for (let at = 0; at < body.length; at += fault.bytes) {
        answer.write(body.slice(at, at + fault.bytes))
        await pause(fault.pauseMs)
      }
      answer.end()
      return undefined
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
