/** Serves the built page with example documents and a stream that a test writes to. Needs no cluster. */

import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { StreamEvent } from '../src/console/documents/stream.ts'
import { buildWeb } from '../tools/build-web.ts'
import type { ConsoleExample } from './console-documents.ts'
import { useFolder } from './folder.ts'

const CONTENT_SECURITY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'"

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

export interface ExamplePage {
  readonly url: () => string
  /** What the server answers from now on. */
  readonly show: (example: ConsoleExample) => void
  readonly send: (event: StreamEvent) => void
  /** Answers 401 to everything from now on, as a server that was started again does. */
  readonly endSession: () => void
}

export function useExamplePage(): ExamplePage {
  const folder = useFolder()
  const streams = new Set<ServerResponse>()
  let example: ConsoleExample | undefined
  let ended = false
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://console')
    response.setHeader('content-security-policy', CONTENT_SECURITY)
    if (!pathname.startsWith('/api/')) return sendFile(folder, pathname, response)
    if (ended)
      return sendJson(response, 401, {
        error: { code: 'SL1300', message: 'no session', remedy: 'open the link again' },
      })
    if (pathname === '/api/stream') return openStream(response, streams)
    const document = example && findDocument(example, pathname)
    return document
      ? sendJson(response, 200, document)
      : sendJson(response, 404, { error: { code: 'SL1301', message: 'no such document', remedy: 'choose another' } })
  })
  beforeAll(async () => {
    await buildWeb(folder)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    show: (next) => {
      example = next
      ended = false
    },
    send: (event) => {
      for (const stream of streams) stream.write(`event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`)
    },
    endSession: () => {
      ended = true
      for (const stream of streams) stream.end()
    },
  }
}

function openStream(response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('retry: 50\nevent: hello\ndata: {"kind":"hello","server":"example","version":7}\n\n')
  streams.add(response)
  response.on('close', () => streams.delete(response))
}

function sendFile(folder: string, pathname: string, response: ServerResponse): void {
  const name = pathname === '/' ? 'index.html' : path.basename(pathname)
  response.writeHead(200, { 'content-type': types[path.extname(name)] ?? 'text/plain' })
  response.end(readFileSync(path.join(folder, name)))
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

function findDocument(example: ConsoleExample, pathname: string): object | undefined {
  const [name = '', key, part] = pathname.slice('/api/'.length).split('/')
  if (name === 'search') return example.search
  if (key === undefined) return (example.documents as Readonly<Record<string, object>>)[name]
  if (name === 'runs' && part === 'events') return { run: key, from: 0, events: example.runEvents }
  if (name === 'hosts') return example.deployment
  if (name === 'runs') return part === 'stages' ? example.stage : example.run
  return { addresses: example.network, topology: example.topologyItem }[name]
}
