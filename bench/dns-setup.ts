/**
 * Sets up the DNS bench: namespaces with a DNSMasq and its pod, queries to its real server, changes of its records, and
 * bare writes to compare with.
 *
 * Everything uses loopback without a network namespace, so that the operator and the bench reach the API server equally.
 */
import { renderCrd } from '../src/api/crd.ts'
import { type DnsHost, dnsDataKind } from '../src/api/dnsdata.ts'
import { configMaps, dnsDatas } from '../src/controllers/dns/dns-kinds.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { dnsData, dnsMasq, host } from '../test/dns.ts'
import { resolverOf } from '../test/real/dns/ask.ts'
import { clusterPod } from '../test/real/dns/cluster-pod.ts'

/** A namespace with a DNS server. */
export interface Place {
  readonly namespace: string
  /** The addresses of a name; empty when the server has none. */
  readonly ask: (name: string) => Promise<readonly string[]>
  readonly stop: () => Promise<void>
}

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 300_000
  // Once a millisecond: the query and the simulated kubelet share one process.
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('timed out')
    await pause(1)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export async function clock(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Resolves when copies and statuses are written: no write for a while, anywhere. */
export async function settled(client: KubeClient): Promise<void> {
  const version = async (): Promise<string> =>
    (await client.list({ apiVersion: 'v1', kind: 'Namespace' })).resourceVersion
  for (let [before, now] = ['', await version()]; before !== now; [before, now] = [now, await version()])
    await pause(50)
}

/** Creates a namespace with a hundred hosts, of which one changes its address. */
export async function furnish(client: KubeClient, namespace: string): Promise<Place> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await client.create(dnsMasq('dns', namespace))
  await client.create(dnsData('some', hostsIn(0), namespace))
  const pod = await clusterPod(client, { namespace, name: 'dns' })
  // A resolver adapts its timeout to fast answers, so each query has its own.
  const ask: Place['ask'] = (name) =>
    resolverOf(pod.server, 30_000)
      .resolve4(name)
      .catch((error: NodeJS.ErrnoException) => {
        if (['ENOTFOUND', 'ENODATA', 'EREFUSED'].includes(error.code ?? '')) return []
        throw error
      })
  await until(async () => (await ask('moving.example.com')).length === 1)
  return { namespace, ask, stop: pod.stop }
}

export function hostsIn(round: number): readonly DnsHost[] {
  const others = Array.from({ length: 99 }, (_, n) => host(`10.1.0.${n + 1}`, `host-${n}.example.com`))
  return [host(`10.2.${round >> 7}.${(round & 127) + 1}`, 'moving.example.com'), ...others]
}

/** Measures from the write to the right answer. */
export function change(client: KubeClient, { namespace, ask }: Place, round: number): Promise<number> {
  const hosts = hostsIn(round)
  const ref = { ...dnsDatas, namespace, name: 'some' }
  return clock(async () => {
    await client.patch(ref, { spec: { hosts } }, { type: 'merge' })
    await until(async () => {
      const answer = await ask('moving.example.com')
      return answer.length === 1 && answer[0] === hosts[0]?.ip
    })
  })
}

const extraData = (namespace: string) => dnsData('guest', [host('10.3.0.1', 'guest.example.com')], namespace)

/** Measures from the create of a DNSData to the answer. */
export function add(client: KubeClient, { namespace, ask }: Place): Promise<number> {
  return clock(async () => {
    await client.create(extraData(namespace))
    await until(async () => (await ask('guest.example.com')).length === 1)
  })
}

/** Measures from its deletion to an empty answer. */
export function remove(client: KubeClient, { namespace, ask }: Place): Promise<number> {
  return clock(async () => {
    await client.delete({ ...dnsDatas, namespace, name: 'guest' })
    await until(async () => (await ask('guest.example.com')).length === 0)
  })
}

/** Creates DNSData with a hundred hosts each, until they are answered. */
export function load(client: KubeClient, { namespace, ask }: Place, many: number): Promise<number> {
  return clock(async () => {
    for (let part = 0; part < many; part += 1) {
      const hosts = Array.from({ length: 100 }, (_, n) =>
        host(`10.${100 + part}.0.${n + 1}`, `many-${part}-${n}.example.com`),
      )
      await client.create(dnsData(`many-${part}`, hosts, namespace))
    }
    for (let part = 0; part < many; part += 1)
      for (const n of [0, 99]) await until(async () => (await ask(`many-${part}-${n}.example.com`)).length === 1)
  })
}

/** DNSData in another group, which no controller watches. */
const bareKind = { ...dnsDataKind, group: 'bench.stackloom.dev' }
const bareDatas = { apiVersion: `${bareKind.group}/${bareKind.version}`, kind: bareKind.kind }

export async function furnishBare(client: KubeClient, namespace: string): Promise<void> {
  await client.create({ ...configMaps, metadata: { name: 'bare', namespace }, data: {} })
  await client.create(renderCrd(bareKind))
  await until(async () => (await client.resource(bareDatas)) !== undefined)
  await client.create({ ...dnsData('some', hostsIn(0), namespace), ...bareDatas })
}

/** The same write without a reader, and a query for a known name. */
export function bare(client: KubeClient, { namespace, ask }: Place, round: number): Promise<number> {
  const patch = { spec: { hosts: hostsIn(round) } }
  return clock(async () => {
    await client.patch({ ...bareDatas, namespace, name: 'some' }, patch, { type: 'merge' })
    await ask('host-0.example.com')
  })
}

/** The same with a ConfigMap: the lower bound of a write. */
export function leastBare(client: KubeClient, { namespace, ask }: Place, round: number): Promise<number> {
  const data = { hosts: JSON.stringify(hostsIn(round)) }
  return clock(async () => {
    await client.patch({ ...configMaps, namespace, name: 'bare' }, { data }, { type: 'merge' })
    await ask('host-0.example.com')
  })
}
