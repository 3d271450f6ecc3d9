/**
 * Names: from the write of a DNSData to the right answer of the real dnsmasq, beside one bare write and one question;
 * what the Go infra-operator needs on the same API server until its Deployment's template changes; ten thousand hosts.
 *
 * The kubelet is played without its delay, which is the same for everybody. The operator is a process of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { crdOf } from '../src/api/crd.ts'
import { type DnsData, type DnsHost, dnsDataKind } from '../src/api/dnsdata.ts'
import { configMaps, deployments, dnsDatas } from '../src/controllers/dns/kinds.ts'
import type { Cluster } from '../test/cluster.ts'
import { startCluster } from '../test/cluster.ts'
import { dnsData, dnsMasq, host } from '../test/dns.ts'
import { missingPrograms, resolverOf } from '../test/real/dns/ask.ts'
import { type ClusterPod, clusterPod } from '../test/real/dns/cluster-pod.ts'
import { startOperatorProcess } from '../test/real/dns/operator-process.ts'
import { startPeer } from '../test/real/ipam/peer.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { median, once } from '../tools/measure.ts'

const ROUNDS = 200
const PEER_ROUNDS = 10
const GUESTS = 30
const LARGE = 100

interface Times {
  readonly change: readonly number[]
  /** One bare write of the same text in the same shape, and one question, in turn with the changes. */
  readonly bare: readonly number[]
  /** The same with a ConfigMap in place of the shape: the least that a write can cost. */
  readonly leastBare: readonly number[]
  /** The same change with ten thousand hosts beside it. */
  readonly large: readonly number[]
  readonly load: number
  /** From the write of a new DNSData, and of its deletion, to the answer. */
  readonly added: readonly number[]
  readonly deleted: readonly number[]
  /** The longest that anybody waited for an answer while they were loaded. */
  readonly longestAnswer: number
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 300_000
  // Asked once a millisecond: the asker and the played kubelet share one process.
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it never came')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

const clock = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** What a name leads to; nothing, where the server says so. */
type Ask = (name: string) => Promise<readonly string[]>

function askerOf({ server }: ClusterPod): Ask {
  // A resolver that has heard quick answers soon gives up on slow ones: each question has its own.
  return (name) =>
    resolverOf(server, 30_000)
      .resolve4(name)
      .catch((error: NodeJS.ErrnoException) => {
        if (['ENOTFOUND', 'ENODATA', 'EREFUSED'].includes(error.code ?? '')) return []
        throw error
      })
}

const measured = once(async (): Promise<Times> => {
  const { cluster, stop } = await startCluster({ crds: 'own' })
  const operator = startOperatorProcess(cluster)
  let pod: ClusterPod | undefined
  try {
    await furnish(cluster)
    pod = await clusterPod(cluster.client, { namespace: 'bench', name: 'dns' })
    const ask = askerOf(pod)
    await until(async () => (await ask('moving.example.com')).length === 1)
    const [change, bare, leastBare, large]: [number[], number[], number[], number[]] = [[], [], [], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      change.push(await oneChange(cluster, ask, round))
      await settled(cluster)
      bare.push(await oneBare(cluster, ask, round))
      leastBare.push(await oneLeastBare(cluster, ask, round))
    }
    const { added, deleted } = await comeAndGo(cluster, ask)
    const { load, longestAnswer } = await loadMany(cluster, ask)
    for (let round = ROUNDS; round < 2 * ROUNDS; round += 1) large.push(await oneChange(cluster, ask, round))
    return { change, bare, leastBare, large, added, deleted, load, longestAnswer }
  } finally {
    await pod?.stop()
    await operator.kill()
    await stop()
  }
})

/** A hundred hosts, of which one moves. */
function hostsIn(round: number): readonly DnsHost[] {
  const others = Array.from({ length: 99 }, (_, at) => host(`10.1.0.${at + 1}`, `host-${at}.example.com`))
  return [host(`10.2.${round >> 7}.${(round & 127) + 1}`, 'moving.example.com'), ...others]
}

/** DNSData under another group, in which nobody takes an interest. */
const bareKind = { ...dnsDataKind, group: 'bench.stackloom.dev' }
const bareDatas = { apiVersion: `${bareKind.group}/${bareKind.version}`, kind: bareKind.kind }

async function furnish({ client }: Cluster): Promise<void> {
  const metadata = { name: 'bench' }
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata })
  await client.create(dnsMasq('dns', 'bench'))
  await client.create(dnsData('some', hostsIn(0), 'bench'))
  await client.create({ ...configMaps, metadata: { name: 'bare', namespace: 'bench' }, data: {} })
  await client.create(crdOf(bareKind))
  await until(async () => (await client.resource(bareDatas)) !== undefined)
  await client.create({ ...dnsData('some', hostsIn(0), 'bench'), ...bareDatas })
}

function oneChange({ client }: Cluster, ask: Ask, round: number): Promise<number> {
  const hosts = hostsIn(round + 1)
  const wanted = hosts[0]?.ip
  return clock(async () => {
    await client.patch(
      { ...dnsDatas, namespace: 'bench', name: 'some' },
      { spec: { hosts } },
      { type: 'merge' },
    )
    await until(async () => {
      const answer = await ask('moving.example.com')
      return answer.length === 1 && answer[0] === wanted
    })
  })
}

/** What follows a change, the copy and the status, is over: a bare write must not pay for it. */
async function settled({ client }: Cluster): Promise<void> {
  await until(async () => {
    const some = (await client.get({ ...dnsDatas, namespace: 'bench', name: 'some' })) as DnsData | undefined
    return some?.status?.observedGeneration === some?.metadata.generation
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
}

/** The same write where nobody reads it, and a question whose answer is there. */
function oneBare({ client }: Cluster, ask: Ask, round: number): Promise<number> {
  const patch = { spec: { hosts: hostsIn(round) } }
  return clock(async () => {
    await client.patch({ ...bareDatas, namespace: 'bench', name: 'some' }, patch, { type: 'merge' })
    await ask('host-0.example.com')
  })
}

function oneLeastBare({ client }: Cluster, ask: Ask, round: number): Promise<number> {
  const data = { hosts: JSON.stringify(hostsIn(round)) }
  return clock(async () => {
    await client.patch({ ...configMaps, namespace: 'bench', name: 'bare' }, { data }, { type: 'merge' })
    await ask('host-0.example.com')
  })
}

async function comeAndGo(
  { client }: Cluster,
  ask: Ask,
): Promise<{ readonly added: number[]; readonly deleted: number[] }> {
  const [added, deleted]: [number[], number[]] = [[], []]
  const counts = async (many: number): Promise<boolean> => (await ask('guest.example.com')).length === many
  for (let round = 0; round < GUESTS; round += 1) {
    const guest = dnsData('guest', [host('10.3.0.1', 'guest.example.com')], 'bench')
    added.push(
      await clock(async () => {
        await client.create(guest)
        await until(() => counts(1))
      }),
    )
    deleted.push(
      await clock(async () => {
        await client.delete({ ...dnsDatas, namespace: 'bench', name: 'guest' })
        await until(() => counts(0))
      }),
    )
    // The next one of the same name waits for nothing of the last.
    const copy = { ...configMaps, namespace: 'bench', name: 'guest' }
    await until(async () => (await client.get(copy)) === undefined)
  }
  return { added, deleted }
}

async function loadMany({ client }: Cluster, ask: Ask): Promise<Pick<Times, 'load' | 'longestAnswer'>> {
  let longestAnswer = 0
  let over = false
  const asking = (async () => {
    while (!over) {
      longestAnswer = Math.max(longestAnswer, await clock(() => ask('host-0.example.com')))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()
  const load = await clock(async () => {
    for (let part = 0; part < LARGE; part += 1) {
      const hosts = Array.from({ length: 100 }, (_, at) =>
        host(`10.${100 + part}.0.${at + 1}`, `many-${part}-${at}.example.com`),
      )
      await client.create(dnsData(`many-${part}`, hosts, 'bench'))
    }
    for (let part = 0; part < LARGE; part += 1)
      for (const at of [0, 99])
        await until(async () => (await ask(`many-${part}-${at}.example.com`)).length === 1)
  })
  over = true
  await asking
  return { load, longestAnswer }
}

/** Until the template of the peer's Deployment has another hash: the rollout comes on top of it. */
const peer = once(async (): Promise<number> => {
  const { cluster, stop } = await startCluster({ crds: '2023' })
  const { client } = cluster
  const logs = mkdtempSync(path.join(tmpdir(), 'stackloom-peer-'))
  const running = await startPeer(cluster, path.join(logs, 'log'))
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
    name: 'dns.change-p99-to-bare',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: () =>
      needed(async () => {
        const { change, bare } = await measured()
        return p99(change) / p99(bare)
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
