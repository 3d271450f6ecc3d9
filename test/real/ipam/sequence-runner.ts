/** Runs sequences on a cluster with either operator, and returns the state of all IPSets after each step. */
import { vi } from 'vitest'
import { type IpSet, ipSets, reservations } from '../../../src/api/ipset.ts'
import type { NetConfigSpec } from '../../../src/api/netconfig.ts'
import type { Cluster } from '../../cluster.ts'
import { ipSet, netConfig } from '../../ipam.ts'
import type { Sequence, Step } from './sequences.ts'

export interface Rules {
  /** Makes the operator reconcile waiting IPSets after a delete. */
  readonly nudge: (namespace: string) => Promise<void>
  readonly spec: (spec: NetConfigSpec) => NetConfigSpec
  /** The expected state after a delete: when waiting IPSets are served cannot be seen otherwise. */
  readonly wanted?: readonly string[] | undefined
}

export interface SequenceRunner {
  /** Creates a namespace with a NetConfig on its own segment, so that sequences do not share addresses. */
  readonly configure: (namespace: string, spec: NetConfigSpec) => Promise<void>
  /** Waits until an IPSet is Ready or reports why not. */
  readonly settles: (namespace: string, name: string) => Promise<void>
  /** Returns the state after each step. */
  readonly play: (namespace: string, sequence: Sequence, rules: Rules) => Promise<readonly string[]>
  /** The state of all IPSets, as `host-0=True net-0:10.0.0.17`. */
  readonly stateOf: (namespace: string) => Promise<string>
  /** For infra-operator, which does not serve waiting IPSets: touches each, oldest first, and waits for the reconcile. */
  readonly touchWaiting: (namespace: string) => Promise<void>
  /** Waits for a reconcile that changes nothing: with one worker, a later one of another IPSet shows it. */
  readonly reconciled: (namespace: string, name: string) => Promise<void>
}

export function ready(object: IpSet | undefined): string | undefined {
  return object?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
}

/** The number of checks before a waiting IPSet counts as not served. */
const TRIES = 300

export function createSequenceRunner(
  cluster: Cluster,
  soon: { readonly timeout: number; readonly interval: number },
): SequenceRunner {
  const listed = async (namespace: string): Promise<readonly IpSet[]> =>
    (await cluster.client.list(ipSets, { namespace })).items as readonly IpSet[]

  const configure = async (namespace: string, spec: NetConfigSpec): Promise<void> => {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const made = netConfig(spec, { 'stackloom.dev/segment': namespace })
    await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
  }

  const settles = async (namespace: string, name: string): Promise<void> => {
    await vi.waitUntil(async () => {
      const object = (await cluster.client.get({ ...ipSets, namespace, name })) as IpSet | undefined
      if (ready(object) === 'True') return true
      const [condition] = (object?.status?.conditions ?? []).filter(({ type }) => type === 'ReservationReady')
      return condition?.status === 'False'
    }, soon)
  }

  const deleted = async (namespace: string, name: string): Promise<void> => {
    await cluster.client.delete({ ...ipSets, namespace, name })
    await vi.waitUntil(async () => {
      const left = await Promise.all(
        [ipSets, reservations].map((kind) => cluster.client.get({ ...kind, namespace, name })),
      )
      return left.every((object) => object === undefined)
    }, soon)
  }

  const stateOf = async (namespace: string): Promise<string> => {
    const lines = (await listed(namespace)).map((ipSet) => {
      const given = (ipSet.status?.reservations ?? []).map(({ network, address }) => `${network}:${address}`)
      return [`${ipSet.metadata.name}=${ready(ipSet)}`, ...given.sort()].join(' ')
    })
    return lines.sort().join('; ')
  }

  const stateOnce = async (namespace: string, wanted: string): Promise<string> => {
    for (let tries = 0; ; tries += 1) {
      const state = await stateOf(namespace)
      if (state === wanted || tries === TRIES) return state
      await new Promise((resolve) => setTimeout(resolve, soon.interval))
    }
  }

  const take = async (namespace: string, step: Step, { nudge }: Rules): Promise<void> => {
    if (step.kind === 'create') {
      await cluster.client.create(ipSet(step.name, step.networks, namespace))
      return settles(namespace, step.name)
    }
    await deleted(namespace, step.name)
    return nudge(namespace)
  }

  const reconciled = async (namespace: string, name: string): Promise<void> => {
    const marker = `marker-${name}`
    await cluster.client.create(ipSet(marker, [{ name: 'nowhere' }], namespace))
    await settles(namespace, marker)
    await deleted(namespace, marker)
  }

  return {
    configure,
    settles,
    stateOf,
    reconciled,
    play: async (namespace, { spec, steps }, rules) => {
      await configure(namespace, rules.spec(spec))
      const seen: string[] = []
      for (const [index, step] of steps.entries()) {
        await take(namespace, step, rules)
        const wanted = step.kind === 'delete' ? rules.wanted?.[index] : undefined
        // A created IPSet gets its result at once, and no other changes.
        seen.push(await (wanted === undefined ? stateOf(namespace) : stateOnce(namespace, wanted)))
      }
      return seen
    },
    touchWaiting: async (namespace) => {
      const names = (await listed(namespace))
        .filter((ipSet) => ready(ipSet) !== 'True')
        .map(({ metadata }) => metadata.name)
        .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
      for (const name of names) {
        const ref = { ...ipSets, namespace, name }
        const touched = String((await cluster.client.get(ref))?.metadata.resourceVersion)
        await cluster.client.patch(ref, { metadata: { annotations: { touched } } }, { type: 'merge' })
        await reconciled(namespace, name)
      }
    },
  }
}
