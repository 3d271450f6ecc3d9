/** Chooses ports: the standard ones inside a network namespace, free ones outside. */
import { createServer } from 'node:net'

export interface Ports {
  readonly etcd: number
  readonly etcdPeer: number
  readonly api: number
  readonly controllerManager: number
  readonly metallb: number
  readonly metallbWebhookMetrics: number
}

/** MetalLB has no flag for the port of its webhooks. */
export const METALLB_WEBHOOK_PORT = 9443

export const namespacePorts: Ports = {
  etcd: 2379,
  etcdPeer: 2380,
  api: 6443,
  controllerManager: 10257,
  metallb: 7472,
  metallbWebhookMetrics: 7473,
}

/** Distinct free loopback ports. Another process may still take one; then the program fails to bind and the start is retried. */
export async function findFreePorts(api: number): Promise<Ports> {
  const servers = await Promise.all(Array.from({ length: 5 }, () => holdPort(0, '127.0.0.1')))
  const [etcd = 0, etcdPeer = 0, controllerManager = 0, metallb = 0, metallbWebhookMetrics = 0] = servers.map(
    (server) => server.port,
  )
  await Promise.all(servers.map((server) => server.close()))
  return { api, etcd, etcdPeer, controllerManager, metallb, metallbWebhookMetrics }
}

export interface HeldPort {
  readonly port: number
  /** Can be inherited by a child process. */
  readonly fd: number
  readonly close: () => Promise<void>
}

/** Listens without accepting; throws EADDRINUSE when the port is in use. */
export function holdPort(port: number, host: string): Promise<HeldPort> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      const { fd } = (server as unknown as { readonly _handle: { readonly fd: number } })._handle
      resolve({
        port: typeof address === 'object' && address ? address.port : port,
        fd,
        close: () => new Promise((done) => void server.close(() => done())),
      })
    })
  })
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    await (await holdPort(port, host)).close()
    return true
  } catch {
    return false
  }
}
