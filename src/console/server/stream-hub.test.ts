import { afterEach, describe, expect, it } from 'vitest'
import { createStreamHub, type StreamHub } from './stream-hub.ts'

let hub: StreamHub
afterEach(() => hub.close())

const publish = (count: number, text = ''): void => {
  for (let index = 0; index < count; index += 1)
    hub.publish({ kind: 'patch', document: 'overview', fields: { index, text } })
}

/** Reads what the hub has sent so far. */
async function readAll(
  stream: ReadableStream<Uint8Array> | undefined,
): Promise<readonly { kind: string; version: number }[]> {
  const reader = stream?.getReader()
  let text = ''
  for (;;) {
    const part = await Promise.race([
      reader?.read(),
      new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined))),
    ])
    if (!part || part.done) break
    text += new TextDecoder().decode(part.value)
  }
  reader?.releaseLock()
  return [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data]) => JSON.parse(data ?? '') as { kind: string; version: number },
  )
}

const all = { lastEventId: undefined, documents: undefined }

describe('the stream', () => {
  it('sends a client that reconnects exactly what it missed', async () => {
    hub = createStreamHub('me')
    publish(5)
    const events = await readAll(hub.open({ ...all, lastEventId: 'me-3' }))
    expect(events.map(({ kind, version }) => `${kind} ${version}`)).toEqual(['hello 3', 'patch 4', 'patch 5'])
  })

  it.each(['me-99', 'other-3', 'nonsense', ''])(
    'resets a client whose last event %j is not known',
    async (lastEventId) => {
      hub = createStreamHub('me')
      publish(5)
      const events = await readAll(hub.open({ ...all, lastEventId }))
      expect(events.map(({ kind }) => kind)).toEqual(['hello', 'reset'])
    },
  )

  it('drops old events when they are too many, and resets the clients that need them', async () => {
    hub = createStreamHub('me', { keptBytes: 1_000 })
    publish(100)
    expect((await readAll(hub.open({ ...all, lastEventId: 'me-1' }))).map(({ kind }) => kind)).toContain('reset')
    expect((await readAll(hub.open({ ...all, lastEventId: 'me-99' }))).map(({ kind }) => kind)).toEqual([
      'hello',
      'patch',
    ])
  })

  it('disconnects a client that does not read, and keeps the others', async () => {
    hub = createStreamHub('me', { pendingBytes: 10_000 })
    const slow = hub.open(all)
    const fast = hub.open(all)
    publish(5, 'x'.repeat(1_000))
    expect(await readAll(fast)).toHaveLength(6)
    publish(8, 'x'.repeat(1_000))
    expect(hub.clients()).toBe(1)
    expect(await readAll(fast)).toHaveLength(8)
    await slow?.cancel()
  })

  it('sends only the patches of the documents that a client asks for', async () => {
    hub = createStreamHub('me')
    const stream = hub.open({ ...all, documents: new Set(['hosts']) })
    publish(2)
    hub.publish({ kind: 'patch', document: 'hosts', fields: {} })
    hub.publish({ kind: 'connection', connection: { kind: 'lost', since: '' } })
    expect((await readAll(stream)).map(({ kind }) => kind)).toEqual(['hello', 'patch', 'connection'])
  })

  it('refuses more clients than its limit, and takes another one when one has left', async () => {
    hub = createStreamHub('me', { clients: 2 })
    const first = hub.open(all)
    expect(hub.open(all)).toBeDefined()
    expect(hub.open(all)).toBeUndefined()
    await first?.cancel()
    expect(hub.open(all)).toBeDefined()
  })
})
