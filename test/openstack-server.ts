/**
 * Simulates Keystone, Nova, Neutron and Placement of one cloud on loopback, as their API references describe them: what `hosts
 * remove`, `drain` and `enable` use. A migration takes `steps` requests. Nothing else of OpenStack is here.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SimulatedInstance {
  readonly id: string
  readonly name: string
  host: string
  status: string
  task: string | null
  /** Requests until its migration ends. */
  left?: number
  /** Set where the migration fails, or is refused. */
  readonly fails?: 'later' | 'refused'
}

export interface SimulatedCloud {
  readonly url: string
  readonly instances: SimulatedInstance[]
  readonly services: { id: string; host: string; status: string; state: string; disabled_reason?: string | null }[]
  readonly agents: { id: string; agent_type: string; host: string; alive: boolean }[]
  readonly providers: { uuid: string; name: string }[]
  readonly migrations: { instance_uuid: string; source_compute: string; status: string; migration_type: string }[]
  /** Every request so far but logins. */
  readonly requests: string[]
  /** Called before each request is served. */
  onRequest: (count: number) => void
  readonly close: () => Promise<void>
}

const MIGRATION_STEPS = 2

export async function startSimulatedCloud(hosts: readonly string[]): Promise<SimulatedCloud> {
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const answer = serve(`${request.method}`, request.url ?? '', body, request.headers['x-auth-token'])
      response.writeHead(answer.status, { 'content-type': 'application/json', 'x-subject-token': 'a-token' })
      response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cloud: SimulatedCloud = {
    url,
    instances: [],
    services: hosts.map((host) => ({ id: `service-${host}`, host, status: 'enabled', state: 'up' })),
    agents: hosts.flatMap((host) =>
      ['OVN Controller agent', 'OVN Metadata agent'].map((type, index) => ({
        id: `agent-${host}-${index}`,
        agent_type: type,
        host,
        alive: true,
      })),
    ),
    providers: hosts.map((name) => ({ uuid: `provider-${name}`, name })),
    migrations: [],
    requests: [],
    onRequest: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  interface Answer {
    readonly status: number
    readonly body?: object
  }

  function serve(method: string, path: string, body: string, token: unknown): Answer {
    if (path === '/v3/auth/tokens') {
      if (!body.includes('"s3cret"')) return { status: 401 }
      const endpoint = (prefix: string) => [{ interface: 'public', url: `${url}/${prefix}` }]
      const catalog = [
        { type: 'compute', endpoints: endpoint('compute/v2.1') },
        { type: 'network', endpoints: endpoint('network') },
        { type: 'placement', endpoints: endpoint('placement') },
      ]
      return { status: 201, body: { token: { catalog } } }
    }
    if (token !== 'a-token') return { status: 401 }
    cloud.requests.push(`${method} ${path}`)
    cloud.onRequest(cloud.requests.length)
    advance()
    const parsed = new URL(path, url)
    const [, area = '', ...rest] = parsed.pathname.split('/')
    const steps = rest.map(decodeURIComponent)
    if (area === 'compute') return serveNova(method, steps.slice(1), parsed.searchParams, body)
    if (area === 'network') return serveNeutron(method, steps.slice(1))
    return servePlacement(method, steps)
  }

  /** Migrations end after some requests, from any client. */
  function advance(): void {
    for (const instance of cloud.instances) {
      if (instance.left === undefined) continue
      instance.left -= 1
      if (instance.left > 0) continue
      delete instance.left
      const isLive = instance.status === 'MIGRATING'
      instance.task = null
      if (instance.fails === 'later') {
        instance.status = isLive ? 'ACTIVE' : 'SHUTOFF'
        continue
      }
      const source = instance.host
      instance.host = cloud.services.find(({ host, status }) => host !== source && status === 'enabled')?.host ?? source
      instance.status = isLive ? 'ACTIVE' : 'VERIFY_RESIZE'
      const entry = {
        instance_uuid: instance.id,
        source_compute: source,
        migration_type: isLive ? 'live-migration' : 'migration',
      }
      cloud.migrations.push({ ...entry, status: isLive ? 'completed' : 'finished' })
    }
  }

  function serveNova(
    method: string,
    [kind, id, verb]: readonly string[],
    query: URLSearchParams,
    body: string,
  ): Answer {
    if (kind === 'os-services') {
      if (method === 'GET') return { status: 200, body: { services: cloud.services } }
      const index = cloud.services.findIndex((service) => service.id === id)
      const service = cloud.services[index]
      if (!service) return { status: 404 }
      if (method === 'PUT') {
        const { status, disabled_reason: reason } = JSON.parse(body) as { status: string; disabled_reason?: string }
        Object.assign(service, { status, disabled_reason: reason ?? null })
        return { status: 200, body: { service } }
      }
      if (cloud.instances.some(({ host }) => host === service.host)) return { status: 409 }
      cloud.services.splice(index, 1)
      // Nova deletes the compute node and its resource provider with the service.
      remove(cloud.providers, ({ name }) => name === service.host)
      return { status: 204 }
    }
    if (kind === 'servers' && id === 'detail') {
      const marker = query.get('marker')
      const all = cloud.instances.filter(({ host }) => host === query.get('host'))
      const from = marker === null ? 0 : all.findIndex((instance) => instance.id === marker) + 1
      const servers = all
        .slice(from, from + Number(query.get('limit') ?? 1000))
        .map(({ id: uuid, name, status, task }) => ({ id: uuid, name, status, 'OS-EXT-STS:task_state': task }))
      return { status: 200, body: { servers } }
    }
    if (kind === 'os-migrations') {
      const wanted = [...query]
      const migrations = cloud.migrations.filter((migration) =>
        wanted.every(([key, value]) => (migration as Readonly<Record<string, string>>)[key] === value),
      )
      return { status: 200, body: { migrations } }
    }
    const instance = cloud.instances.find((candidate) => candidate.id === id)
    if (kind !== 'servers' || verb !== 'action' || !instance) return { status: 404 }
    return actOn(instance, JSON.parse(body) as object)
  }

  function actOn(instance: SimulatedInstance, action: object): Answer {
    if ('confirmResize' in action) {
      if (instance.status !== 'VERIFY_RESIZE') return { status: 409 }
      instance.status = 'SHUTOFF'
      for (const migration of cloud.migrations)
        if (migration.instance_uuid === instance.id && migration.status === 'finished') migration.status = 'confirmed'
      return { status: 204 }
    }
    if (instance.task !== null || instance.fails === 'refused') return { status: 409 }
    const isLive = 'os-migrateLive' in action
    if (isLive !== ['ACTIVE', 'PAUSED'].includes(instance.status)) return { status: 409 }
    Object.assign(instance, { status: isLive ? 'MIGRATING' : 'RESIZE', task: 'migrating', left: MIGRATION_STEPS })
    return { status: 202 }
  }

  function serveNeutron(method: string, [kind, id]: readonly string[]): Answer {
    if (kind !== 'agents') return { status: 404 }
    if (method === 'GET') return { status: 200, body: { agents: cloud.agents } }
    const agent = cloud.agents.find((candidate) => candidate.id === id)
    if (!agent) return { status: 404 }
    if (agent.alive) return { status: 409 }
    remove(cloud.agents, (candidate) => candidate.id === id)
    return { status: 204 }
  }

  function servePlacement(method: string, [kind, uuid]: readonly string[]): Answer {
    if (kind !== 'resource_providers') return { status: 404 }
    if (method === 'GET') return { status: 200, body: { resource_providers: cloud.providers } }
    return { status: remove(cloud.providers, (provider) => provider.uuid === uuid) ? 204 : 404 }
  }

  return cloud
}

function remove<T>(list: T[], matches: (item: T) => boolean): boolean {
  const index = list.findIndex(matches)
  if (index >= 0) list.splice(index, 1)
  return index >= 0
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/** An instance on a host, which moves when it is asked to. */
export function simulatedInstance(
  name: string,
  host: string,
  fields: Partial<SimulatedInstance> = {},
): SimulatedInstance {
  return { id: `id-${name}`, name, host, status: 'ACTIVE', task: null, ...fields }
}
