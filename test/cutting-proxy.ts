/**
 * A TCP proxy on loopback that a test can cut, silence or close, to simulate network failures.
 *
 * Forwards bytes unchanged, including TLS.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  readonly port: number
  /** Connections since the start. */
  readonly connections: () => number
  /** Resets every open connection; new ones work. */
  readonly cut: () => void
  /** While true nothing passes and nothing ends, as with an unplugged cable. */
  readonly silence: (silenced: boolean) => void
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
  let silenced = false
  let refused = false

  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      // Bytes that arrive while silenced are lost: TCP retransmission is not simulated.
      if (!silenced) to.write(bytes)
    })
    from.on('end', () => {
      if (!silenced) to.end()
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
      if (silenced) return
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
      silenced = next
      // Connections that lost bytes cannot continue.
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
