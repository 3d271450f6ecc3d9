/** Queries the DNS server of a cloud. No other part of Stackloom resolves names. */
import { Resolver } from 'node:dns/promises'
import type { DnsAnswers } from '../../verify/checks/check-definition.ts'

export interface AskDnsSettings {
  /** `address` or `address:port`. */
  readonly server: string
  readonly names: readonly string[]
  readonly timeoutMs: number
  readonly stop: AbortSignal
}

export type AskDns = (settings: AskDnsSettings) => Promise<DnsAnswers>

/** A server that reports an unknown name has answered; any other error means that it is unreachable. */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA'])
const CONCURRENCY = 16

export const askDns: AskDns = async ({ server, names, timeoutMs, stop }) => {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 })
  resolver.setServers([server.includes(':') && !server.includes('.') ? `[${server}]` : server])
  const cancel = (): void => resolver.cancel()
  stop.addEventListener('abort', cancel)
  const answers = new Map<string, readonly string[]>()
  try {
    for (let start = 0; start < names.length; start += CONCURRENCY)
      await Promise.all(
        names
          .slice(start, start + CONCURRENCY)
          .map(async (name) => answers.set(name, await resolveName(resolver, name))),
      )
    return { server, answers }
  } catch (thrown) {
    stop.throwIfAborted()
    const { code = '', message } = thrown as { readonly code?: string; readonly message: string }
    return { server, answers, unreachable: code === 'ETIMEOUT' ? 'timeout' : code || message }
  } finally {
    stop.removeEventListener('abort', cancel)
  }
}

async function resolveName(resolver: Resolver, name: string): Promise<readonly string[]> {
  const [four, six] = await Promise.all([
    ignoreNotFound(resolver.resolve4(name)),
    ignoreNotFound(resolver.resolve6(name)),
  ])
  return [...four, ...six]
}

async function ignoreNotFound(asked: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await asked
  } catch (thrown) {
    if (ANSWERS.has((thrown as { readonly code?: string }).code ?? '')) return []
    throw thrown
  }
}
