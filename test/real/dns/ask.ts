/** Queries DNS servers with Node's resolver and with dig, and allocates loopback addresses for them. */
import { spawnSync } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'

export interface Server {
  readonly address: string
  readonly port: number
}

let given = 0

/** A loopback address for a pod that no other test process uses. */
export function loopback(): string {
  given += 1
  return `127.${64 + (process.pid % 128)}.${(process.pid >> 7) % 250}.${given}`
}

export function resolverOf({ address, port }: Server, timeout = 5_000): Resolver {
  const resolver = new Resolver({ timeout, tries: 1 })
  resolver.setServers([`${isIPv6(address) ? `[${address}]` : address}:${port}`])
  return resolver
}

/** The addresses of a name, sorted; empty when it has none. */
export async function addressesOf(server: Server, name: string, family: 4 | 6 = 4): Promise<readonly string[]> {
  const resolver = resolverOf(server)
  const asked = family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)
  return (await asked.catch(noneIfUnknown)).sort()
}

export async function namesOf(server: Server, address: string): Promise<readonly string[]> {
  return resolverOf(server).reverse(address).catch(noneIfUnknown)
}

/** A negative answer is an answer; none at all is a failure. */
function noneIfUnknown(error: unknown): string[] {
  const { code } = error as { readonly code?: string }
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EREFUSED') return []
  throw error
}

/** What dig prints, `+short`. */
export function dig(server: Server, ...question: string[]): readonly string[] {
  const words = [`@${server.address}`, '-p', String(server.port), '+short', '+time=2', '+tries=1', ...question]
  const { stdout, status } = spawnSync('dig', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`dig ended with ${status}: ${stdout}`)
  return stdout.split('\n').filter(Boolean)
}

/** Why the real server cannot be queried here, or undefined. */
export function missingPrograms(): string | undefined {
  const missing = ['dnsmasq', 'dig'].filter((name) => spawnSync(name, ['-v']).error !== undefined)
  return missing.length > 0 ? `not installed: ${missing.join(', ')}` : undefined
}
