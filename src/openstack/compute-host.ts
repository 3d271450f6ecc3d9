/** Asks Nova, Neutron and Placement about one compute host, and changes what they have of it. */
import type { CloudApi } from './session.ts'

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
  const isHost = (name: string): boolean => name === shortName || name.startsWith(`${shortName}.`)
  const act = (instance: string, action: object): Promise<void> =>
    api('compute', 'POST', `/servers/${encodeURIComponent(instance)}/action`, action)
  return {
    findService: async () => {
      const { services } = await api<{ readonly services: readonly ComputeService[] }>(
        'compute',
        'GET',
        '/os-services?binary=nova-compute',
      )
      return services.find(({ host }) => isHost(host))
    },
    setStatus: ({ id }, status, reason) =>
      api('compute', 'PUT', `/os-services/${encodeURIComponent(id)}`, {
        status,
        ...(status === 'disabled' && { disabled_reason: reason }),
      }),
    listInstances: async ({ host }) => {
      const found: Instance[] = []
      for (let marker = ''; ; ) {
        const query = `all_tenants=1&host=${encodeURIComponent(host)}&limit=${PAGE}${marker}`
        const { servers } = await api<{ readonly servers: readonly RawServer[] }>(
          'compute',
          'GET',
          `/servers/detail?${query}`,
        )
        for (const { id, name, status, 'OS-EXT-STS:task_state': task } of servers)
          found.push({ id, name, status, task: task ?? undefined })
        const last = servers.at(-1)
        if (!last || servers.length < PAGE) return found
        marker = `&marker=${encodeURIComponent(last.id)}`
      }
    },
    listMigrations: async ({ host }) => {
      const { migrations } = await api<{ readonly migrations: readonly RawMigration[] }>(
        'compute',
        'GET',
        `/os-migrations?source_compute=${encodeURIComponent(host)}`,
      )
      return migrations
        .filter(({ status }) => !ended.includes(status))
        .map(({ instance_uuid: instance, status, migration_type: type }) => ({ instance, status, type }))
    },
    liveMigrate: (instance) => act(instance, { 'os-migrateLive': { host: null, block_migration: 'auto' } }),
    migrate: (instance) => act(instance, { migrate: null }),
    confirm: (instance) => act(instance, { confirmResize: null }),
    listAgents: async () => {
      const { agents } = await api<{ readonly agents: readonly NetworkAgent[] }>('network', 'GET', '/v2.0/agents')
      return agents.filter(({ host }) => isHost(host))
    },
    deleteAgent: (id) => api('network', 'DELETE', `/v2.0/agents/${encodeURIComponent(id)}`),
    deleteService: ({ id }) => api('compute', 'DELETE', `/os-services/${encodeURIComponent(id)}`),
    listProviders: async () => {
      const { resource_providers: providers } = await api<{ readonly resource_providers: readonly ResourceProvider[] }>(
        'placement',
        'GET',
        '/resource_providers',
      )
      return providers.filter(({ name }) => isHost(name))
    },
    deleteProvider: (uuid) => api('placement', 'DELETE', `/resource_providers/${encodeURIComponent(uuid)}`),
  }
}
