/**
 * Numbers the events of the stream, keeps the last ones for clients that reconnect, and sends them to all clients.
 *
 * Memory is bounded: old events are dropped, and a client that does not read is disconnected.
 */
import type { StreamEvent } from '../documents/stream.ts'

type WithoutVersion<E> = E extends StreamEvent ? Omit<E, 'version'> : never
/** An event to publish; the hub adds its number. */
export type NewEvent = WithoutVersion<Exclude<StreamEvent, { readonly kind: 'hello' | 'reset' }>>

export interface StreamHub {
  readonly version: () => number
  readonly publish: (event: NewEvent) => void
  /** Undefined when there are too many clients. `lastEventId` is the header of a client that reconnects. */
  readonly open: (options: OpenOptions) => ReadableStream<Uint8Array> | undefined
  readonly clients: () => number
  readonly close: () => void
}

export interface OpenOptions {
  readonly lastEventId: string | undefined
  /** Documents whose patches the client gets; all without it. */
  readonly documents: ReadonlySet<string> | undefined
}

export interface HubLimits {
  readonly clients: number
  /** Of all kept events together. */
  readonly keptBytes: number
  /** Of one client that does not read. */
  readonly pendingBytes: number
  /** A comment after this time, so that proxies keep the connection and a dead client is noticed. */
  readonly keepAliveMs: number
}

const defaultLimits: HubLimits = { clients: 64, keptBytes: 4 << 20, pendingBytes: 8 << 20, keepAliveMs: 15_000 }

interface Kept {
  readonly version: number
  readonly document: string | undefined
  readonly bytes: Uint8Array
}

interface Client {
  readonly send: (kept: Pick<Kept, 'bytes' | 'document'>) => void
  readonly end: () => void
}

/** `server` identifies this process: ids of another one cannot be resumed. */
export function createStreamHub(server: string, limits: Partial<HubLimits> = {}): StreamHub {
  const { clients: maxClients, keptBytes, pendingBytes, keepAliveMs } = { ...defaultLimits, ...limits }
  const clients = new Set<Client>()
  const kept: Kept[] = []
  let bytesKept = 0
  let version = 0
  const keepAlive = setInterval(() => {
    for (const client of clients) client.send({ bytes: comment, document: undefined })
  }, keepAliveMs)
  keepAlive.unref()

  const encode = (event: StreamEvent): Uint8Array =>
    encoder.encode(`id: ${server}-${event.version}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`)

  const missed = (lastEventId: string | undefined): readonly Kept[] | undefined => {
    const [, from, number] = /^(.+)-(\d+)$/.exec(lastEventId ?? '') ?? []
    if (from !== server) return undefined
    const last = Number(number)
    const first = kept[0]?.version ?? version + 1
    return last + 1 >= first && last <= version ? kept.filter((entry) => entry.version > last) : undefined
  }

  const open = ({ lastEventId, documents }: OpenOptions): ReadableStream<Uint8Array> | undefined => {
    if (clients.size >= maxClients) return undefined
    let client: Client | undefined
    const leave = (): void => {
      if (client) clients.delete(client)
    }
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      const end = (): void => {
        leave()
        try {
          controller.close()
        } catch {
          // The client closed it at the same time.
        }
      }
      const send: Client['send'] = ({ bytes, document }) => {
        if (document !== undefined && documents && !documents.has(document)) return
        // A client that does not read reconnects later, and gets what it missed or a reset.
        if ((controller.desiredSize ?? 0) <= 0) return end()
        controller.enqueue(bytes)
      }
      client = { send, end }
      clients.add(client)
      const resumed = missed(lastEventId)
      const hello = { kind: 'hello', server, version: resumed ? Number(/\d+$/.exec(lastEventId ?? '')?.[0]) : version }
      send({ bytes: encode(hello as StreamEvent), document: undefined })
      if (lastEventId !== undefined && !resumed)
        send({ bytes: encode({ kind: 'reset', version }), document: undefined })
      for (const entry of resumed ?? []) send(entry)
    }
    return new ReadableStream({ start, cancel: leave }, new ByteLengthQueuingStrategy({ highWaterMark: pendingBytes }))
  }

  return {
    version: () => version,
    publish: (event) => {
      version += 1
      const numbered = { ...event, version } as StreamEvent
      const entry = {
        version,
        document: event.kind === 'patch' ? event.document : undefined,
        bytes: encode(numbered),
      }
      kept.push(entry)
      bytesKept += entry.bytes.length
      while (bytesKept > keptBytes) bytesKept -= kept.shift()?.bytes.length ?? bytesKept
      for (const client of clients) client.send(entry)
    },
    open,
    clients: () => clients.size,
    close: () => {
      clearInterval(keepAlive)
      for (const client of clients) client.end()
    },
  }
}

const encoder = new TextEncoder()
const comment = encoder.encode(': alive\n\n')
