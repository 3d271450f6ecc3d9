/**
 * Measures DNS: from the write of a DNSData to the right answer of the real dnsmasq, against a bare write and a query;
 * the time of the Go infra-operator on the same API server until its pod template changes; ten thousand hosts.
 *
 * The kubelet is simulated without its delay, which is the same for both. The operator is a separate process. Compared
 * measurements alternate, and each starts when the previous one has settled.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { deployments, dnsDatas } from '../src/controllers/dns/dns-kinds.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { startCluster } from '../test/cluster.ts'
import { dnsData, dnsMasq } from '../test/dns.ts'
import { missingPrograms } from '../test/real/dns/ask.ts'
import { startOperatorProcess } from '../test/real/dns/operator-process.ts'
import { startInfraOperator } from '../test/real/ipam/infra-operator.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { median, once } from '../tools/measure.ts'
import {
  add,
  bare,
  change,
  clock,
  furnish,
  furnishBare,
  hostsIn,
  leastBare,
  load,
  type Place,
  remove,
  settled,
  until,
} from './dns-setup.ts'

const ROUNDS = 200
const PEER_ROUNDS = 10
const GUESTS = 40
/** DNSData of a hundred hosts each. */
const LARGE = 100

interface Times {
  /** Among a hundred hosts, and among ten thousand. */
  readonly change: readonly number[]
  readonly large: readonly number[]
  /** A bare write of the same text in the same kind and a query; and the same with a ConfigMap. */
  readonly bare: readonly number[]
  readonly leastBare: readonly number[]
  /** From the create of a DNSData, and from its deletion, to the answer. */
  readonly added: readonly number[]
  readonly deleted: readonly number[]
  /** Deleted as soon as it is answered, while its copy and its status are being written. */
  readonly deletedAtOnce: readonly number[]
  readonly load: number
  /** The longest time to an answer while they were loaded. */
  readonly longestAnswer: number
}

type Step = 'change' | 'large' | 'bare' | 'leastBare'

const measured = once(async (): Promise<Times> => {
  const { cluster, stop } = await startCluster({ crds: 'own', netns: false })
  const { client } = cluster
  const operator = startOperatorProcess(cluster)
  const places: Place[] = []
  const open = async (namespace: string): Promise<Place> => {
    const place = await furnish(client, namespace)
    places.push(place)
    return place
  }
  try {
    const [few, many] = [await open('few'), await open('many')]
    await furnishBare(client, few.namespace)
    const loaded = await queryWhile(many, () => load(client, many, LARGE))
    const times: Record<Step, number[]> = { change: [], large: [], bare: [], leastBare: [] }
    const steps: Readonly<Record<Step, (round: number) => Promise<number>>> = {
      change: (round) => change(client, few, round),
      bare: (round) => bare(client, few, round),
      leastBare: (round) => leastBare(client, few, round),
      large: (round) => change(client, many, round),
    }
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [step, work] of Object.entries(steps)) {
        await settled(client)
        times[step as Step].push(await work(round))
      }
    }
    return { ...times, ...(await addAndRemove(client, few)), ...loaded }
  } finally {
    for (const place of places) await place.stop()
    await operator.kill()
    await stop()
  }
})

async function addAndRemove(
  client: KubeClient,
  place: Place,
): Promise<Pick<Times, 'added' | 'deleted' | 'deletedAtOnce'>> {
  const [added, deleted, deletedAtOnce]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < GUESTS; round += 1) {
    await settled(client)
    added.push(await add(client, place))
    await settled(client)
    deleted.push(await remove(client, place))
    await settled(client)
    await add(client, place)
    deletedAtOnce.push(await remove(client, place))
  }
  return { added, deleted, deletedAtOnce }
}

/** Queries an existing name without pause during the work. */
async function queryWhile({ ask }: Place, work: () => Promise<number>): Promise<Pick<Times, 'load' | 'longestAnswer'>> {
  let longestAnswer = 0
  let over = false
  const asking = (async () => {
    while (!over) {
      longestAnswer = Math.max(longestAnswer, await clock(() => ask('host-0.example.com')))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()
  const load = await work()
  over = true
  await asking
  return { load, longestAnswer }
}

/** Waits until the pod template of infra-operator's Deployment changes; the rollout is not included. */
const peer = once(async (): Promise<number> => {
  const { cluster, stop } = await startCluster({ crds: '2023', netns: false })
  const { client } = cluster
  const logs = mkdtempSync(path.join(tmpdir(), 'stackloom-peer-'))
  const running = await startInfraOperator(cluster, path.join(logs, 'log'))
  const namespace = 'bench'
  const template = async (): Promise<string> => {
    const deployment = await client.get({ ...deployments, namespace, name: 'dnsmasq-dns' })
    return JSON.stringify((deployment?.['spec'] as { readonly template?: unknown } | undefined)?.template)
  }
  try {
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const made = dnsMasq('dns', namespace, { options: [{ key: 'server', values: ['1.1.1.1'] }] })
    await client.create(made)
    await client.create(dnsData('some', hostsIn(0), namespace))
    await until(async () => (await template())?.includes('"some"') ?? false)
    const times: number[] = []
    for (let round = 1; round <= PEER_ROUNDS; round += 1) {
      const before = await template()
      times.push(
        await clock(async () => {
          const patch = { spec: { hosts: hostsIn(round) } }
          await client.patch({ ...dnsDatas, namespace, name: 'some' }, patch, { type: 'merge' })
          await until(async () => (await template()) !== before)
        }),
      )
    }
    return median(times)
  } finally {
    await running.stop()
    rmSync(logs, { recursive: true, force: true })
    await stop()
  }
})

const p99 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.ceil(times.length * 0.99) - 1)] ?? 0

const needed = async (value: () => Promise<number>): Promise<Measured> => {
  const missing = missingPrograms()
  return missing === undefined ? value() : { unavailable: missing }
}

export const figures: readonly Figure[] = [
  {
    // Compares the 99th percentiles: against the median of bare writes, as in the next figure,
    // bare writes on a busy machine miss the target themselves.
    name: 'dns.change-p99-to-bare',
    unit: 'x',
    target: { op: '<=', value: 1.8 },
    measure: () =>
      needed(async () => {
        const { change, bare } = await measured()
        return p99(change) / p99(bare)
      }),
  },
  {
    name: 'dns.change-p99-to-bare-median',
    unit: 'x',
    measure: () =>
      needed(async () => {
        const { change, bare } = await measured()
        return p99(change) / median(bare)
      }),
  },
  {
    // What the API server alone takes for the two writes in a row that a change needs: the record and a ConfigMap.
    name: 'dns.floor-p99-to-bare',
    unit: 'x',
    measure: () =>
      needed(async () => {
        const { bare, leastBare } = await measured()
        return p99(bare.map((ms, round) => ms + (leastBare[round] ?? 0))) / p99(bare)
      }),
  },
  {
    name: 'dns.change-median',
    unit: 'ms',
    measure: () => needed(async () => median((await measured()).change)),
  },
  {
    name: 'dns.bare-median',
    unit: 'ms',
    measure: () => needed(async () => median((await measured()).bare)),
  },
  {
    name: 'dns.change-p99-to-bare-configmap',
    unit: 'x',
    measure: () =>
      needed(async () => {
        const { change, leastBare } = await measured()
        return p99(change) / p99(leastBare)
      }),
  },
  {
    name: 'dns.delete-to-add',
    unit: 'x',
    measure: () =>
      needed(async () => {
        const { added, deleted } = await measured()
        return median(deleted) / median(added)
      }),
  },
  {
    name: 'dns.delete-at-once-to-add',
    unit: 'x',
    measure: () =>
      needed(async () => {
        const { added, deletedAtOnce } = await measured()
        return median(deletedAtOnce) / median(added)
      }),
  },
  {
    name: 'dns.infra-operator-template-median',
    unit: 'ms',
    measure: () => needed(peer),
  },
  {
    name: 'dns.ten-thousand-to-hundred',
    unit: 'x',
    target: { op: '<=', value: 2 },
    measure: () =>
      needed(async () => {
        const { change, large } = await measured()
        return median(large) / median(change)
      }),
  },
  {
    name: 'dns.ten-thousand-hosts-load',
    unit: 's',
    measure: () => needed(async () => (await measured()).load / 1_000),
  },
  {
    name: 'dns.longest-answer-during-load',
    unit: 'ms',
    measure: () => needed(async () => (await measured()).longestAnswer),
  },
]
