/** Asks Nova, Neutron and Placement about one compute host, and changes what they have of it. */
import { type CloudApi, CloudApiError, type CloudService, pathSegment, readEntries } from './session.ts'

export interface ComputeService {
  readonly id: string
  readonly host: string
  readonly status: 'enabled' | 'disabled'
  /** Whether nova-compute has reported lately. */
  readonly state: 'up' | 'down'
}

export interface Instance {
  readonly id: string
  readonly name: string
  /** `ACTIVE`, `SHUTOFF`, `MIGRATING`, … */
  readonly status: string
  /** What Nova does with it now; undefined when nothing. */
  readonly task: string | undefined
}

export interface Migration {
  readonly instance: string
  /** `finished`: it waits for its confirmation. */
  readonly status: string
  readonly type: string
}

export interface NetworkAgent {
  readonly id: string
  readonly agent_type: string
  readonly host: string
  readonly alive: boolean
}

export interface ResourceProvider {
  readonly uuid: string
  readonly name: string
}

/** One host of a cloud. Nova may know it by its short or its full name. */
export interface ComputeHostApi {
  readonly findService: () => Promise<ComputeService | undefined>
  readonly setStatus: (service: ComputeService, status: ComputeService['status'], reason: string) => Promise<void>
  readonly listInstances: (service: ComputeService) => Promise<readonly Instance[]>
  /** Migrations away from this host that have not ended: the instance may be on its new host already. */
  readonly listMigrations: (service: ComputeService) => Promise<readonly Migration[]>
  readonly liveMigrate: (instance: string) => Promise<void>
  readonly migrate: (instance: string) => Promise<void>
  readonly confirm: (instance: string) => Promise<void>
  readonly listAgents: () => Promise<readonly NetworkAgent[]>
  readonly deleteAgent: (id: string) => Promise<void>
  readonly deleteService: (service: ComputeService) => Promise<void>
  readonly listProviders: () => Promise<readonly ResourceProvider[]>
  readonly deleteProvider: (uuid: string) => Promise<void>
}

const PAGE = 500
/** States in which Nova does nothing more with a migration. */
const ended: readonly string[] = ['completed', 'confirmed', 'reverted', 'error', 'failed', 'cancelled', 'done']

interface RawMigration {
  readonly instance_uuid: string
  readonly status: string
  readonly migration_type: string
}

interface RawServer {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly 'OS-EXT-STS:task_state'?: string | null
}

export function openComputeHost(api: CloudApi, shortName: string): ComputeHostApi {
  const isHost = (name: unknown): boolean =>
    name === shortName || (typeof name === 'string' && name.startsWith(`${shortName}.`))
  const list = async <T>(service: CloudService, path: string, name: string): Promise<readonly T[]> =>
    readEntries(await api(service, 'GET', path), name)
  const send = (service: CloudService, method: 'PUT' | 'POST' | 'DELETE', path: () => string, body?: object) =>
    Promise.resolve().then(() => api<void>(service, method, path(), body))
  const act = (instance: string, action: object): Promise<void> =>
    send('compute', 'POST', () => `/servers/${pathSegment(instance)}/action`, action)
  return {
    findService: async () => {
      const services = await list<ComputeService>('compute', '/os-services?binary=nova-compute', 'services')
      return services.find(({ host }) => isHost(host))
    },
    setStatus: ({ id }, status, reason) =>
      send('compute', 'PUT', () => `/os-services/${pathSegment(id)}`, {
        status,
        ...(status === 'disabled' && { disabled_reason: reason }),
      }),
    listInstances: async ({ host }) => {
      const found: Instance[] = []
      const markers = new Set<string>()
      for (let marker = ''; ; ) {
        if (markers.has(marker)) throw new CloudApiError('the list of instances has no end', 200)
        markers.add(marker)
        const query = `all_tenants=1&host=${encodeURIComponent(host)}&limit=${PAGE}${marker}`
        const servers = await list<RawServer>('compute', `/servers/detail?${query}`, 'servers')
        for (const { id, name, status, 'OS-EXT-STS:task_state': task } of servers)
          found.push({ id, name, status, task: task ?? undefined })
        const last = servers.at(-1)
        if (!last || servers.length < PAGE) return found
        marker = `&marker=${encodeURIComponent(last.id)}`
      }
    },
    listMigrations: async ({ host }) => {
      const path = `/os-migrations?source_compute=${encodeURIComponent(host)}`
      const migrations = await list<RawMigration>('compute', path, 'migrations')
      return migrations
        .filter(({ status }) => !ended.includes(status))
        .map(({ instance_uuid: instance, status, migration_type: type }) => ({ instance, status, type }))
    },
    liveMigrate: (instance) => act(instance, { 'os-migrateLive': { host: null, block_migration: 'auto' } }),
    migrate: (instance) => act(instance, { migrate: null }),
    confirm: (instance) => act(instance, { confirmResize: null }),
    listAgents: async () => {
      const agents = await list<NetworkAgent>('network', '/v2.0/agents', 'agents')
      return agents.filter(({ host }) => isHost(host))
    },
    deleteAgent: (id) => send('network', 'DELETE', () => `/v2.0/agents/${pathSegment(id)}`),
    deleteService: ({ id }) => send('compute', 'DELETE', () => `/os-services/${pathSegment(id)}`),
    listProviders: async () => {
      const providers = await list<ResourceProvider>('placement', '/resource_providers', 'resource_providers')
      return providers.filter(({ name }) => isHost(name))
    },
    deleteProvider: (uuid) => send('placement', 'DELETE', () => `/resource_providers/${pathSegment(uuid)}`),
  }
}
