/**
 * Plays sequences on a cluster, with one operator or the other, and tells how everybody stands after each step.
 */
import { vi } from 'vitest'
import { type IpSet, ipSets, reservations } from '../../../src/api/ipset.ts'
import type { NetConfigSpec } from '../../../src/api/netconfig.ts'
import type { Cluster } from '../../cluster.ts'
import { ipSet, netConfig } from '../../ipam.ts'
import type { Sequence, Step } from './sequences.ts'

export interface Rules {
  /** What must be done after a delete so that those who wait are looked at. */
  readonly nudge: (namespace: string) => Promise<void>
  readonly spec: (spec: NetConfigSpec) => NetConfigSpec
  /** What those who wait must come to after a delete: when they are woken shows nowhere else, so it is waited for. */
  readonly wanted?: readonly string[] | undefined
}

export interface Player {
  /** A namespace with its NetConfig, on a segment of its own: sequences must not take each other's addresses. */
  readonly configure: (namespace: string, spec: NetConfigSpec) => Promise<void>
  /** Ready, or told why not. Whoever asks sees the end of the step and not the middle. */
  readonly settles: (namespace: string, name: string) => Promise<void>
  /** How everybody stands after each step. */
  readonly play: (namespace: string, sequence: Sequence, rules: Rules) => Promise<readonly string[]>
  /** How everybody stands now, as `host-0=True net-0:10.0.0.17`. */
  readonly stateOf: (namespace: string) => Promise<string>
  /** For infra-operator, which wakes nobody: each is touched, the oldest first, and given time to be looked at. */
  readonly touchThoseWhoWait: (namespace: string) => Promise<void>
  /** A look that changes nothing cannot be seen; a later one of somebody else can, where there is one worker. */
  readonly looked: (namespace: string, name: string) => Promise<void>
}

export function ready(one: IpSet | undefined): string | undefined {
  return one?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
}

/** So often those who wait are looked at before it counts that they did not get what they should. */
const TRIES = 300

export function playerOn(cluster: Cluster, soon: { readonly timeout: number; readonly interval: number }): Player {
  const listed = async (namespace: string): Promise<readonly IpSet[]> =>
    (await cluster.client.list(ipSets, { namespace })).items as readonly IpSet[]

  const configure = async (namespace: string, spec: NetConfigSpec): Promise<void> => {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const made = netConfig(spec, { 'stackloom.dev/segment': namespace })
    await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
  }

  const settles = async (namespace: string, name: string): Promise<void> => {
    await vi.waitUntil(async () => {
      const one = (await cluster.client.get({ ...ipSets, namespace, name })) as IpSet | undefined
      if (ready(one) === 'True') return true
      const [told] = (one?.status?.conditions ?? []).filter(({ type }) => type === 'ReservationReady')
      return told?.status === 'False'
    }, soon)
  }

  const deleted = async (namespace: string, name: string): Promise<void> => {
    await cluster.client.delete({ ...ipSets, namespace, name })
    await vi.waitUntil(async () => {
      const left = await Promise.all(
        [ipSets, reservations].map((kind) => cluster.client.get({ ...kind, namespace, name })),
      )
      return left.every((one) => one === undefined)
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

  const looked = async (namespace: string, name: string): Promise<void> => {
    const marker = `marker-${name}`
    await cluster.client.create(ipSet(marker, [{ name: 'nowhere' }], namespace))
    await settles(namespace, marker)
    await deleted(namespace, marker)
  }

  return {
    configure,
    settles,
    stateOf,
    looked,
    play: async (namespace, { spec, steps }, rules) => {
      await configure(namespace, rules.spec(spec))
      const seen: string[] = []
      for (const [index, step] of steps.entries()) {
        await take(namespace, step, rules)
        const wanted = step.kind === 'delete' ? rules.wanted?.[index] : undefined
        // Who has come is told what it gets, and nobody else changes: that is so at once, or never.
        seen.push(await (wanted === undefined ? stateOf(namespace) : stateOnce(namespace, wanted)))
      }
      return seen
    },
    touchThoseWhoWait: async (namespace) => {
      const names = (await listed(namespace))
        .filter((ipSet) => ready(ipSet) !== 'True')
        .map(({ metadata }) => metadata.name)
        .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
      for (const name of names) {
        const ref = { ...ipSets, namespace, name }
        const touched = String((await cluster.client.get(ref))?.metadata.resourceVersion)
        await cluster.client.patch(ref, { metadata: { annotations: { touched } } }, { type: 'merge' })
        await looked(namespace, name)
      }
    },
  }
}
