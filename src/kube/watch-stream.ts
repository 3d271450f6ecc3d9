/** Parses a watch stream, newline-delimited JSON, into events. An invalid line is a typed error. */
import type { KubeObject } from '../api/object.ts'
import { malformedResponse, type RequestInfo } from './api-error.ts'
import type { WatchEvent } from './client.ts'
import { errorFromWatch } from './status-error.ts'

/** Lines without their newline. The rest of a stream that was cut within a line has `complete: false`. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<{ readonly line: string; readonly complete: boolean }> {
  // The pieces of an unfinished line are joined once: joining each time would cost the square of its length.
  let pieces: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      pieces.push(chunk.subarray(start, end))
      yield { line: decode(pieces), complete: true }
      pieces = []
      start = end + 1
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start))
  }
  if (pieces.length > 0) yield { line: decode(pieces), complete: false }
}

function decode(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8')
}

export async function* watchEvents(chunks: AsyncIterable<Uint8Array>, request: RequestInfo): AsyncIterable<WatchEvent> {
  for await (const { line, complete } of splitLines(chunks)) {
    if (line.trim() === '') continue
    if (!complete) throw malformedResponse('the watch ended within an event', request)
    yield parseEvent(line, request)
  }
}

const kinds: Readonly<Record<string, 'added' | 'modified' | 'deleted'>> = {
  ADDED: 'added',
  MODIFIED: 'modified',
  DELETED: 'deleted',
}

function parseEvent(line: string, request: RequestInfo): WatchEvent {
  const { type, object } = parseLine(line, request)
  if (type === 'ERROR') throw errorFromWatch(object, request)
  const { metadata } = (object ?? {}) as Partial<KubeObject>
  if (type === 'BOOKMARK' && metadata?.resourceVersion) {
    return { kind: 'bookmark', resourceVersion: metadata.resourceVersion }
  }
  const kind = kinds[type]
  if (!kind || !metadata?.name) throw malformedResponse('a watch event without a known type or an object', request)
  return { kind, object: object as KubeObject }
}

function parseLine(line: string, request: RequestInfo): { readonly type: string; readonly object: unknown } {
  try {
    const { type, object } = JSON.parse(line) as { readonly type?: unknown; readonly object?: unknown }
    return { type: String(type), object }
  } catch (thrown) {
    throw malformedResponse('a line of the watch is not JSON', request, thrown)
  }
}
