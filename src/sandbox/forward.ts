/**
 * Forwards connections between network namespaces: a TCP socket belongs to the namespace in which it was created,
 * regardless of the process that accepts on it, and a Unix socket with a path belongs to none.
 */
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'

export interface Forwarder {
  readonly close: () => void
}

export type ListenTarget =
  | { readonly fd: number }
  | { readonly path: string }
  | { readonly port: number; readonly host: string }

/** Forwards every connection to the target, in both directions, until either side ends. */
export function forward(listenOn: ListenTarget, target: NetConnectOpts): Promise<Forwarder> {
  const open = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (inner) => {
    const outer = connect({ ...target, allowHalfOpen: true, noDelay: true } as NetConnectOpts)
    pipeSocket(inner, outer)
    pipeSocket(outer, inner)
    for (const socket of [inner, outer]) {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
    }
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(listenOn, () => {
      server.off('error', reject)
      resolve({
        close: () => {
          server.close()
          for (const socket of open) socket.destroy()
        },
      })
    })
  })
}

/** Closes the other side too: a client must not wait for a dead server. */
function pipeSocket(from: Socket, to: Socket): void {
  from.pipe(to)
  from.once('error', () => to.destroy())
  from.once('close', () => to.destroySoon())
}
