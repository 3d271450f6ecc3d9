/** The stages of maintenance: Nova uses a host or not, and its instances leave. */
import { failure } from '../../errors/failure.ts'
import { CloudApiError } from '../../openstack/session.ts'
import { instancesOnHost } from '../findings/host-removal.ts'
import { drainHost } from './drain-host.ts'
import { type HostChange, needed, type Step, satisfied } from './host-change.ts'

export function enableStage({ api, host }: HostChange): Step {
  return {
    name: 'enable',
    why: '',
    check: async () => {
      const service = await api.findService()
      return service?.status === 'enabled' ? satisfied('Nova schedules instances on it already') : needed
    },
    work: async () => {
      const service = await api.findService()
      if (!service) throw new CloudApiError(`Nova has no compute service on ${host}`, 404)
      await api.setStatus(service, 'enabled', '')
    },
  }
}

export function disableStage({ api, action }: HostChange): Step {
  return {
    name: 'disable',
    why: '',
    check: async () => {
      const service = await api.findService()
      if (!service) return satisfied('Nova has no compute service there')
      return service.status === 'disabled' ? satisfied('it is disabled') : needed
    },
    work: async () => {
      const service = await api.findService()
      if (service) await api.setStatus(service, 'disabled', `stackloom hosts ${action}`)
    },
  }
}

export function drainStage({ api, host, drain, limits }: HostChange): Step {
  return {
    name: 'drain',
    why: 'Nova must not start new instances on it',
    check: async () => {
      const service = await api.findService()
      if (!service) return satisfied('no instances')
      const isEmpty =
        (await api.listInstances(service)).length === 0 && (await api.listMigrations(service)).length === 0
      return isEmpty ? satisfied('no instances') : needed
    },
    work: async (context) => {
      const service = await api.findService()
      if (!service) return
      const instances = await api.listInstances(service)
      if (!drain && instances.length > 0)
        throw failure(instancesOnHost, { host, instances: instances.map(({ name }) => name) }, { exitCode: 1 })
      await drainHost(host, api, service, limits, context)
    },
  }
}
