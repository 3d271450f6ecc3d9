/** Queries a DNS server for names, a few at a time. */
import { Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { dnsServerUnreachable } from '../../controllers/dns/findings.ts'
import type { ServedName } from '../../controllers/dns/names-report.ts'
import { failure, formatError } from '../../errors/failure.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'

const MAX_PARALLEL_QUERIES = 16
const TIMEOUT_MS = 2_000

/** `192.168.122.80`, `192.168.122.80:5353`, `[fd00::53]:5353`. */
function formatServer(text: string): string {
  return isIPv6(text) ? `[${text}]` : text
}

export async function queryNames(server: string, names: readonly ServedName[]): Promise<readonly ServedName[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  resolver.setServers([formatServer(server)])
  const answered: ServedName[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < names.length; index = next++) {
      const served = names[index]
      if (served) answered[index] = { ...served, answered: await query(resolver, server, served.name) }
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_QUERIES, names.length) }, worker))
  return answered
}

async function query(resolver: Resolver, server: string, name: string): Promise<readonly string[]> {
  const families = await Promise.all([
    resolver.resolve4(name).catch((error: unknown) => emptyIfNoAnswer(error, server)),
    resolver.resolve6(name).catch((error: unknown) => emptyIfNoAnswer(error, server)),
  ])
  return families.flat().map((text) => {
    const address = parseAddress(text)
    return address ? formatAddress(address) : text
  })
}

/** A negative answer is an answer; none at all is a failure. */
function emptyIfNoAnswer(error: unknown, server: string): string[] {
  const { code } = error as { readonly code?: string }
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EREFUSED') return []
  throw failure(dnsServerUnreachable, { server, reason: formatError(error) }, { exitCode: 2 })
}
