/**
 * A TCP proxy on loopback that a test can cut, silence or close, to do to real connections what networks do.
 *
 * It passes bytes and understands none: TLS goes through it unbroken.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  readonly port: number
  /** Connections since the start. */
  readonly connections: () => number
  /** Resets every open connection; new ones work. */
  readonly cut: () => void
  /** While true nothing passes, and nothing ends either: the cable is pulled. */
  readonly silence: (hushed: boolean) => void
  /** While true, connections are reset as soon as they are made. */
  readonly refuse: (refused: boolean) => void
  readonly close: () => Promise<void>
}

export async function startCuttingProxy(target: {
  readonly host: string
  readonly port: number
}): Promise<CuttingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let connections = 0
  let hushed = false
  let refused = false

  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      // What arrives in a hushed time is lost, as it would be: TCP's own repetition is not played.
      if (!hushed) to.write(bytes)
    })
    from.on('end', () => {
      if (!hushed) to.end()
    })
  }
  const server = createServer((near) => {
    connections += 1
    near.on('error', () => {})
    if (refused) return void near.resetAndDestroy()
    const far = connect(target)
    const pair = [near, far] as const
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      if (hushed) return
      near.destroy()
      far.destroy()
    }
    far.on('error', end)
    near.on('close', () => {
      far.destroy()
      end()
    })
    far.on('close', end)
    pass(near, far)
    pass(far, near)
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const cut = (): void => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy()
      far.destroy()
    }
    pairs.clear()
  }
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    cut,
    silence: (next) => {
      hushed = next
      // What lost bytes cannot go on; whoever still holds such a connection has not noticed yet.
      if (!next) cut()
    },
    refuse: (next) => {
      refused = next
      if (next) cut()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
}
