/** The stages that stop a host and delete what its cloud and the cluster have of it. */
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getList } from '../../api/raw-object.ts'
import { failure } from '../../errors/failure.ts'
import { deploymentKind, nodeSetKind, REMOVAL_LABEL, readDeployment, serviceKind } from '../../hosts/data-plane.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { ObjectRef } from '../../kube/client.ts'
import type { StageContext } from '../../run/stage.ts'
import { hostLeft, lastHost } from '../findings/host-removal.ts'
import { objectRef } from '../object-changes.ts'
import { createAndWait } from './create-deployment.ts'
import { ignoreStatus } from './drain-host.ts'
import {
  ATTEMPTS,
  dnsDataKind,
  findNode,
  type HostChange,
  isEntryOf,
  NETWORK_API,
  namesHost,
  needed,
  type Step,
  satisfied,
  type WatchedHostChange,
} from './host-change.ts'
import {
  KNOWN_HOSTS_SERVICE,
  renderKnownHostsDeployment,
  renderStopDeployment,
  renderStopService,
} from './removal-objects.ts'

const POLL_MS = 500

export function stopStage(options: WatchedHostChange): Step {
  const { client, view, namespace, host, isOff } = options
  return {
    name: 'stop',
    why: 'a running instance must not lose its host',
    check: async ({ stop }) => {
      if (isOff) return satisfied('the host is off')
      return (await findNode(options, stop)) ? needed : satisfied('it is in no node set')
    },
    work: async (context) => {
      const node = await findNode(options, context.stop)
      if (!node) return
      await createAndWait({ client, view }, renderStopService(namespace, host), context, false)
      await deployAgain(options, renderStopDeployment(namespace, host, node.nodeSet.metadata.name), context)
    },
  }
}

/** A deployment that failed never runs again: a repetition of the command replaces it. */
async function deployAgain(
  { client, view }: Pick<WatchedHostChange, 'client' | 'view'>,
  deployment: KubeObject,
  context: StageContext,
): Promise<void> {
  const ref = objectRef(deployment)
  const before = await client.get(ref, { signal: context.stop })
  if (before && readDeployment(before).error !== undefined) {
    await client.delete(ref, { signal: context.stop })
    while (await client.get(ref, { signal: context.stop })) {
      await context.clock.sleep(POLL_MS, context.stop)
      context.stop.throwIfAborted()
    }
  }
  await createAndWait({ client, view }, deployment, context)
}

export function agentsStage({ api, limits }: HostChange): Step {
  return {
    name: 'agents',
    why: 'an agent that runs registers itself again',
    check: async () => ((await api.listAgents()).length === 0 ? satisfied('Neutron has no agents there') : needed),
    work: async (context) => {
      for (;;) {
        const agents = await api.listAgents()
        if (agents.length === 0) return
        for (const { id, alive, agent_type: type } of agents) {
          if (alive) context.emit({ kind: 'waiting', reason: `${type} still reports; Neutron notices that it stopped` })
          else await ignoreStatus(api.deleteAgent(id), 404)
        }
        await context.clock.sleep(limits.pollMs, context.stop)
        context.stop.throwIfAborted()
      }
    },
  }
}

export function computeStage({ api, limits }: HostChange): Step {
  return {
    name: 'compute',
    why: 'nova-compute would create its records again',
    check: async () => {
      const isGone = !(await api.findService()) && (await api.listProviders()).length === 0
      return isGone ? satisfied('Nova and Placement do not know the host') : needed
    },
    work: async (context) => {
      const service = await api.findService()
      if (service) await ignoreStatus(api.deleteService(service), 404)
      // Nova deletes it with the service, unless allocations were left: those of a migration go a moment after it.
      for (let attempt = 1; ; attempt += 1) {
        const ignored = attempt === ATTEMPTS ? [404] : [404, 409]
        for (const { uuid } of await api.listProviders()) await ignoreStatus(api.deleteProvider(uuid), ...ignored)
        if ((await api.listProviders()).length === 0) return
        context.emit({ kind: 'waiting', reason: 'Placement still has allocations of instances that were on the host' })
        await context.clock.sleep(limits.pollMs, context.stop)
        context.stop.throwIfAborted()
      }
    },
  }
}

export function nodeSetStage(options: HostChange): Step {
  const { client, namespace, host } = options
  return {
    name: 'node-set',
    why: 'its services can be stopped only while it is in the inventory',
    check: async ({ stop }) => ((await findNode(options, stop)) ? needed : satisfied('it is in no node set')),
    work: async (context) => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const node = await findNode(options, context.stop)
        if (!node) return
        const { nodeSet, key } = node
        const spec = nodeSet['spec'] as Readonly<Record<string, unknown>>
        const { [key]: _, ...nodes } = spec['nodes'] as Readonly<Record<string, unknown>>
        if (Object.keys(nodes).length === 0)
          throw failure(lastHost, { host, nodeSet: nodeSet.metadata.name, namespace }, { exitCode: 1 })
        try {
          await client.update({ ...nodeSet, spec: { ...spec, nodes } }, { signal: context.stop })
          context.emit({ kind: 'applied', change: 'changed', object: objectRef(nodeSet) })
          return
        } catch (thrown) {
          if (!isApiError(thrown, 'conflict')) throw thrown
        }
      }
      throw failure(hostLeft, { host, left: [`its node set in ${namespace} is written all the time`] }, { exitCode: 1 })
    },
  }
}

export function addressesStage({ client, namespace, host, limits }: HostChange): Step {
  const ipSet = { apiVersion: NETWORK_API, kind: 'IPSet', namespace, name: host }
  const reservation = { ...ipSet, kind: 'Reservation' }
  const left = async (signal: AbortSignal): Promise<readonly ObjectRef[]> => {
    const found = await Promise.all(
      [ipSet, reservation].map(async (ref) => ((await client.get(ref, { signal })) ? [ref] : [])),
    )
    return found.flat()
  }
  return {
    name: 'addresses',
    why: 'the operator creates the IPSet of a host of its node sets again',
    check: async ({ stop }) => ((await left(stop)).length === 0 ? satisfied('it has no addresses') : needed),
    work: async (context) => {
      if (await client.delete(ipSet, { signal: context.stop }))
        context.emit({ kind: 'applied', change: 'deleted', object: ipSet })
      // The garbage collector deletes the Reservation with its IPSet; one whose IPSet is gone has no other owner.
      for (;;) {
        const rest = await left(context.stop)
        if (rest.length === 0) return
        if (!rest.includes(ipSet)) await client.delete(reservation, { signal: context.stop })
        context.emit({
          kind: 'waiting',
          reason: `${rest.map(({ kind }) => `${kind} ${host}`).join(' and ')} to be deleted`,
        })
        await context.clock.sleep(limits.pollMs, context.stop)
        context.stop.throwIfAborted()
      }
    },
  }
}

/** Names that `up` made; those of other owners are reported by the proof. */
export function namesStage({ client, namespace, host }: HostChange): Step {
  const named = async (signal: AbortSignal): Promise<readonly KubeObject[]> => {
    const { items } = await client.list(dnsDataKind, { namespace, signal })
    return items.filter((data) => isManagedByStackloom(data) && namesHost(data, host))
  }
  return {
    name: 'names',
    why: 'a name must not lead to an address that another host may get',
    check: async ({ stop }) => ((await named(stop)).length === 0 ? satisfied('it has no names') : needed),
    work: async (context) => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const all = await named(context.stop)
        if (all.length === 0) return
        for (const data of all) {
          const hosts = getList(data, 'spec', 'hosts').filter((entry) => !isEntryOf(entry, host))
          const changed = { ...data, spec: { ...asRecord(data['spec']), hosts } }
          try {
            await client.update(changed, { signal: context.stop })
            context.emit({ kind: 'applied', change: 'changed', object: objectRef(data) })
          } catch (thrown) {
            if (!isApiError(thrown, 'conflict')) throw thrown
          }
        }
      }
    },
  }
}

export function knownHostsStage({ client, view, namespace, host }: WatchedHostChange): Step {
  const nodeSets = async (signal: AbortSignal): Promise<readonly string[]> => {
    const { items } = await client.list(nodeSetKind, { namespace, signal })
    return items
      .filter((nodeSet) => getList(nodeSet, 'spec', 'services').includes(KNOWN_HOSTS_SERVICE))
      .map(({ metadata }) => metadata.name)
  }
  return {
    name: 'known-hosts',
    why: 'the list of known hosts is made of the node sets',
    check: async ({ stop }) =>
      (await nodeSets(stop)).length === 0 ? satisfied(`no node set has the service ${KNOWN_HOSTS_SERVICE}`) : needed,
    work: async (context) => {
      const names = await nodeSets(context.stop)
      await deployAgain({ client, view }, renderKnownHostsDeployment(namespace, host, names), context)
    },
  }
}

/** A later removal of a host with the same name must not find the deployments of this one. */
export function tidyStage({ client, namespace, host }: HostChange): Step {
  return {
    name: 'tidy',
    why: 'the deployments of the removal have ended',
    work: async ({ stop, emit }) => {
      for (const kind of [deploymentKind, serviceKind]) {
        const { items } = await client.list(kind, {
          namespace,
          labelSelector: `${REMOVAL_LABEL}=${host}`,
          signal: stop,
        })
        for (const item of items) {
          const object = { ...kind, namespace, name: item.metadata.name }
          await client.delete(object, { signal: stop })
          emit({ kind: 'applied', change: 'deleted', object })
        }
      }
    },
  }
}
