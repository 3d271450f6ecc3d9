/** Serves an app on loopback until a signal fires. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { listenUntilAborted, type RunningServer, requestLimits } from '../../kube/listening-server.ts'

export interface ServeOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly host: string
  readonly port: number
}

export function serveConsole({ fetch, host, port }: ServeOptions, signal: AbortSignal): Promise<RunningServer> {
  // A stream never ends by itself, so connections are cut soon after the stop.
  const answer = getRequestListener(fetch)
  const limits = { ...requestLimits, maxHeaderSize: 16 << 10 }
  const server = createServer(limits, (request, response) => void answer(request, response))
  return listenUntilAborted(server, { purpose: 'the console', host, port, graceMs: 200 }, signal)
}
