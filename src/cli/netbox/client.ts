/**
 * Speaks NetBox's REST API (v4): lists with pagination, bulk writes. The token goes to the given server only: a redirect is an
 * error, and of the link to the next page only the query is used.
 */
import { Agent, request } from 'undici'
import { asList, asRecord, asString } from '../../api/json.ts'
import { failure, formatError } from '../../errors/failure.ts'
import type { EntryType } from '../../netbox/entries.ts'
import { badNetBoxUrl, netBoxUnreachable, unknownVrf } from '../../netbox/findings.ts'

export interface NetBoxSettings {
  readonly url: string
  readonly token: string
  readonly ca?: string
  readonly stop: AbortSignal
}

export interface NetBox {
  /** `tag` limits to entries with it. */
  readonly list: (type: EntryType, query?: Readonly<Record<string, string>>) => Promise<readonly unknown[]>
  readonly create: (type: EntryType, entries: readonly object[]) => Promise<readonly unknown[]>
  readonly update: (type: EntryType, entries: readonly object[]) => Promise<void>
  readonly remove: (type: EntryType, ids: readonly number[]) => Promise<void>
  readonly findVrf: (name: string) => Promise<number>
  /** Creates the tag if it does not exist. */
  readonly ensureTag: (slug: string) => Promise<void>
  readonly close: () => Promise<void>
}

const PAGE = 500
const BATCH = 200
/** A server that never ends its list must not fill the memory. */
const MAX_RESULTS = 1_000_000
/** Of one page: 500 entries have a hundredth. */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20
const TIMEOUT_MS = 60_000

export function openNetBox({ url: given, token, ca, stop }: NetBoxSettings): NetBox {
  const base = parseBase(given)
  const dispatcher = new Agent({
    connect: { ...(ca !== undefined && { ca }) },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_RESPONSE_BYTES,
  })
  // Tokens of the second version name themselves.
  const authorization = token.startsWith('nbt_') ? `Bearer ${token}` : `Token ${token}`
  const fail = (reason: string, cause?: unknown) => failure(netBoxUnreachable, { url: base.href, reason }, { cause })
  const send = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: URL, body?: unknown): Promise<unknown> => {
    try {
      const { statusCode, body: answer } = await request(url, {
        method,
        dispatcher,
        signal: stop,
        headers: { authorization, accept: 'application/json', 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (statusCode < 200 || statusCode > 299)
        throw fail(`HTTP status ${statusCode} to ${method} ${url.pathname}: ${text.slice(0, 200)}`)
      return text === '' ? undefined : (JSON.parse(text) as unknown)
    } catch (thrown) {
      stop.throwIfAborted()
      if (thrown instanceof Error && thrown.name === 'Failure') throw thrown
      throw fail(formatError(thrown), thrown)
    }
  }
  const endpoint = (path: string): URL => new URL(`api/${path}/`, base)
  const list = async (path: string, query: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
    const first = endpoint(path)
    for (const [name, value] of Object.entries({ limit: String(PAGE), ...query })) first.searchParams.set(name, value)
    const results: unknown[] = []
    const seen = new Set<string>()
    for (let next: URL | undefined = first; next; ) {
      if (seen.has(next.href) || results.length > MAX_RESULTS) throw fail(`its list of ${path} has no end`)
      seen.add(next.href)
      const page: Readonly<Record<string, unknown>> = asRecord(await send('GET', next))
      for (const result of asList(page['results'])) results.push(result)
      const link: string | undefined = asString(page['next'])
      if (link !== undefined && !URL.canParse(link, base.href)) throw fail('its next page has no valid address')
      next = link === undefined ? undefined : nextPage(first, new URL(link, base))
    }
    return results
  }
  const inBatches = async <T>(items: readonly T[], write: (batch: readonly T[]) => Promise<unknown>) => {
    const answers: unknown[] = []
    for (let index = 0; index < items.length; index += BATCH)
      answers.push(...asList(await write(items.slice(index, index + BATCH))))
    return answers
  }
  return {
    list: (type, query = {}) => list(`ipam/${type}`, query),
    create: (type, entries) => inBatches(entries, (batch) => send('POST', endpoint(`ipam/${type}`), batch)),
    update: async (type, entries) =>
      void (await inBatches(entries, (batch) => send('PATCH', endpoint(`ipam/${type}`), batch))),
    remove: async (type, ids) =>
      void (await inBatches(ids, (batch) =>
        send(
          'DELETE',
          endpoint(`ipam/${type}`),
          batch.map((id) => ({ id })),
        ),
      )),
    findVrf: async (name) => {
      const found = (await list('ipam/vrfs', { name })).map(asRecord).find((vrf) => vrf['name'] === name)
      const id = found?.['id']
      if (typeof id !== 'number') throw failure(unknownVrf, { name, url: base.href })
      return id
    },
    ensureTag: async (slug) => {
      const found = await list('extras/tags', { slug })
      if (found.length === 0) await send('POST', endpoint('extras/tags'), { name: slug, slug })
    },
    close: () => dispatcher.close(),
  }
}

/** Behind a proxy, NetBox often names a host or scheme that only the proxy can reach. */
function nextPage(first: URL, link: URL): URL {
  const next = new URL(first)
  next.search = link.search
  return next
}

function parseBase(text: string): URL {
  const fail = (reason: string) => failure(badNetBoxUrl, { url: text.replace(/\/\/[^/]*@/, '//…@'), reason })
  if (!URL.canParse(text)) throw fail('it is not a URL')
  const url = new URL(text.endsWith('/') ? text : `${text}/`)
  if (url.protocol !== 'https:' && !['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
    throw fail('a token is sent over HTTPS only')
  if (url.username !== '' || url.search !== '') throw fail('it has a user or a query')
  return url
}
