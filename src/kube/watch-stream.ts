/**
 * A watch as it arrives: newline-delimited JSON, turned into events. What cannot be an event is a typed error.
 */
import type { KubeObject } from '../api/object.ts'
import { malformedResponse, type RequestInfo } from './api-error.ts'
import type { WatchEvent } from './client.ts'
import { errorFromWatch } from './status-error.ts'

/** Lines without their newline. A stream that ends within a line was cut, and the piece is given as `rest`. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<{ readonly line: string; readonly complete: boolean }> {
  // Pieces of an unfinished line are kept apart until it ends: joining each time would cost the square of its length.
  let pieces: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      pieces.push(chunk.subarray(start, end))
      yield { line: joined(pieces), complete: true }
      pieces = []
      start = end + 1
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start))
  }
  if (pieces.length > 0) yield { line: joined(pieces), complete: false }
}

function joined(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8')
}

export async function* watchEvents(chunks: AsyncIterable<Uint8Array>, errand: RequestInfo): AsyncIterable<WatchEvent> {
  for await (const { line, complete } of splitLines(chunks)) {
    if (line.trim() === '') continue
    if (!complete) throw malformedResponse('the watch ended within an event', errand)
    yield eventOf(line, errand)
  }
}

const kinds: Readonly<Record<string, 'added' | 'modified' | 'deleted'>> = {
  ADDED: 'added',
  MODIFIED: 'modified',
  DELETED: 'deleted',
}

function eventOf(line: string, errand: RequestInfo): WatchEvent {
  const { type, object } = parseLine(line, errand)
  if (type === 'ERROR') throw errorFromWatch(object, errand)
  const { metadata } = (object ?? {}) as Partial<KubeObject>
  if (type === 'BOOKMARK' && metadata?.resourceVersion) {
    return { kind: 'bookmark', resourceVersion: metadata.resourceVersion }
  }
  const kind = kinds[type]
  if (!kind || !metadata?.name) throw malformedResponse('a watch event without a known type or an object', errand)
  return { kind, object: object as KubeObject }
}

function parseLine(line: string, errand: RequestInfo): { readonly type: string; readonly object: unknown } {
  try {
    const { type, object } = JSON.parse(line) as { readonly type?: unknown; readonly object?: unknown }
    return { type: String(type), object }
  } catch (thrown) {
    throw malformedResponse('a line of the watch is not JSON', errand, thrown)
  }
}
