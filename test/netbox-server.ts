/**
 * A server with the documented REST API of NetBox 4 for prefixes, VLANs, addresses and tags: pagination by `limit` and `offset`, bulk
 * writes, choices as `{value, label}`, nested briefs, tags that must exist. It is ours: NetBox itself needs PostgreSQL and Redis.
 */
import { createServer, type IncomingMessage } from 'node:http'

export interface NetBoxServer {
  readonly url: string
  /** Adds an entry as a user of NetBox would. */
  readonly add: (type: string, fields: Readonly<Record<string, unknown>>) => number
  readonly entries: (type: string) => readonly Readonly<Record<string, unknown>>[]
  readonly requests: string[]
  /** The origin of links to a next page, which a proxy may hide. */
  linkOrigin?: string
  readonly close: () => Promise<void>
}

type Stored = Record<string, unknown> & { id: number }

export async function startNetBox(token: string): Promise<NetBoxServer> {
  const stores = new Map<string, Map<number, Stored>>()
  const store = (type: string): Map<number, Stored> => {
    const found = stores.get(type) ?? new Map<number, Stored>()
    stores.set(type, found)
    return found
  }
  let lastId = 0
  const add = (type: string, fields: Readonly<Record<string, unknown>>): number => {
    lastId += 1
    store(type).set(lastId, { ...fields, id: lastId })
    return lastId
  }
  const toAnswer = (entry: Stored): object => {
    const { vlan, vrf, status = 'active', role, tags = [], ...rest } = entry
    const found = typeof vlan === 'number' ? store('ipam/vlans').get(vlan) : undefined
    const placed = typeof vrf === 'number' ? store('ipam/vrfs').get(vrf) : undefined
    return {
      ...rest,
      status: { value: status, label: String(status) },
      role: typeof role === 'string' ? { value: role, label: role } : (role ?? null),
      vlan: found ? { id: found.id, vid: found['vid'], name: found['name'] } : null,
      vrf: placed ? { id: placed.id, name: placed['name'] } : null,
      tags: tags as object[],
    }
  }
  const requests: string[] = []
  const handle = (method: string, url: URL, body: unknown, base: string): readonly [number, unknown] => {
    const type = /^\/api\/(.+)\/$/.exec(url.pathname)?.[1] ?? ''
    if (method === 'GET') {
      const slug = url.searchParams.get('slug')
      const [name, vrf] = [url.searchParams.get('name'), url.searchParams.get('vrf_id')]
      const all = [...store(type).values()].filter(
        (entry) =>
          (slug === null || entry['slug'] === slug) &&
          (name === null || entry['name'] === name) &&
          (vrf === null || JSON.stringify(entry['vrf'] ?? null) === vrf),
      )
      const limit = Math.min(Number(url.searchParams.get('limit') ?? 50), 3)
      const offset = Number(url.searchParams.get('offset') ?? 0)
      const origin = self.linkOrigin ?? base
      const more = offset + limit < all.length ? `${origin}${url.pathname}?${nextPage(url, limit, offset)}` : null
      const results = all.slice(offset, offset + limit).map(toAnswer)
      return [200, { count: all.length, next: more, previous: null, results }]
    }
    const items = (Array.isArray(body) ? body : [body]) as Record<string, unknown>[]
    if (method === 'POST') {
      for (const { tags = [], ...fields } of items) {
        const unknown = (tags as { slug: string }[]).find(
          ({ slug }) => ![...store('extras/tags').values()].some((tag) => tag['slug'] === slug),
        )
        if (unknown)
          return [400, [{ tags: [`Related object not found using the provided attributes: ${unknown.slug}`] }]]
        if (
          fields['vlan'] !== undefined &&
          fields['vlan'] !== null &&
          !store('ipam/vlans').has(fields['vlan'] as number)
        )
          return [400, [{ vlan: ['Related object not found using the provided numeric ID'] }]]
        // ENFORCE_GLOBAL_UNIQUE, as by default: VIPs are the exception.
        const vrf = fields['vrf'] ?? null
        const [field = ''] = ['prefix', 'address'].filter((name) => name in fields)
        const isTaken = [...store(type).values()].some(
          (other) => field !== '' && other[field] === fields[field] && (other['vrf'] ?? null) === vrf,
        )
        if (isTaken && fields['role'] !== 'vip') return [400, [{ [field]: [`Duplicate ${field} found`] }]]
      }
      return [201, items.map((item) => toAnswer(store(type).get(add(type, item)) as Stored))]
    }
    const missing = items.find(({ id }) => !store(type).has(id as number))
    if (missing) return [404, { detail: 'Not found.' }]
    for (const { id, ...fields } of items) {
      if (method === 'DELETE') store(type).delete(id as number)
      else Object.assign(store(type).get(id as number) as Stored, fields)
    }
    return method === 'DELETE' ? [204, undefined] : [200, items]
  }
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const base = `http://${request.headers.host}`
      const url = new URL(request.url ?? '/', base)
      requests.push(`${request.method} ${url.pathname}`)
      const allowed = request.headers.authorization === `${token.startsWith('nbt_') ? 'Bearer' : 'Token'} ${token}`
      const [status, answer] = allowed
        ? handle(request.method ?? 'GET', url, text === '' ? undefined : JSON.parse(text), base)
        : [403, { detail: 'Invalid token' }]
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(answer === undefined ? '' : JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const self: NetBoxServer = {
    url: `http://127.0.0.1:${port}`,
    add,
    entries: (type) => [...store(type).values()],
    requests,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
  return self
}

function nextPage({ searchParams }: URL, limit: number, offset: number): string {
  const next = new URLSearchParams(searchParams)
  next.set('limit', String(limit))
  next.set('offset', String(offset + limit))
  return next.toString()
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
