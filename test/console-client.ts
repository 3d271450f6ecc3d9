/** A client of the console for tests: opens the link, asks for documents, and collects the events of the stream. */
import { request } from 'node:http'
import type { StreamEvent } from '../src/console/documents/stream.ts'
import { applyPatch } from '../src/console/patch.ts'
import type { DocumentName } from '../src/console/routes.ts'

export interface ConsoleClient {
  readonly get: <T>(path: string) => Promise<T>
  /** All events since the connection. */
  readonly seen: () => readonly StreamEvent[]
  /** Resolves with the first event from index `from` on that matches. */
  readonly waitFor: (matches: (event: StreamEvent) => boolean, from?: number) => Promise<StreamEvent>
  /** The document with all patches after its version. */
  readonly patched: <T extends { readonly version: number }>(name: DocumentName, document: T) => T
  readonly close: () => void
}

/** Generous: the machine may be busy. */
const LIMIT = 120_000

export async function connectConsole(link: string): Promise<ConsoleClient> {
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0]
  if (cookie === undefined) throw new Error(`the link gave ${entered.status}`)
  return openConsole(new URL(link).origin, { cookie })
}

/** `headers` identify the user: a cookie, or a bearer token. */
export function openConsole(origin: string, headers: Readonly<Record<string, string>>): ConsoleClient {
  const seen: StreamEvent[] = []
  const waiting = new Set<() => void>()
  const { hostname, port } = new URL(origin)
  const stream = request({ hostname, port, path: '/api/stream', headers }, (response) => {
    let rest = ''
    response.setEncoding('utf8')
    response.on('error', () => undefined)
    response.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1]
        if (data !== undefined) seen.push(JSON.parse(data) as StreamEvent)
      }
      for (const check of waiting) check()
    })
  })
  stream.on('error', () => undefined)
  stream.end()
  return {
    get: async <T>(path: string) => {
      const response = await fetch(`${origin}${path}`, { headers })
      if (!response.ok) throw new Error(`${path} gave ${response.status}: ${await response.text()}`)
      return (await response.json()) as T
    },
    seen: () => seen,
    waitFor: (matches, from = 0) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(check)
          const kinds = seen.slice(from).map((event) => JSON.stringify(event).slice(0, 300))
          reject(new Error(`the event did not come; seen: ${kinds.slice(-20).join('\n')}`))
        }, LIMIT)
        const check = (): void => {
          const found = seen.slice(from).find(matches)
          if (!found) return
          clearTimeout(late)
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      }),
    patched: (name, document) =>
      seen.reduce(
        (known, event) =>
          event.kind === 'patch' && event.document === name && event.version > known.version
            ? { ...applyPatch(known, event), version: event.version }
            : known,
        document,
      ),
    close: () => stream.destroy(),
  }
}
