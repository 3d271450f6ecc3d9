/** What the IPAM bench plays with: an API server, the operator as a process, IPSets on five networks, and a witness. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { addressBlocks } from '../src/api/address-block.ts'
import { type IpSet, ipSets } from '../src/api/ipset.ts'
import type { NetConfigSpec } from '../src/api/netconfig.ts'
import { objectKey } from '../src/api/object.ts'
import { systemClock } from '../src/clock/clock.ts'
import { createCache } from '../src/kube/cache.ts'
import { createReflector } from '../src/kube/reflector.ts'
import { ownCrds } from '../src/operator/parts.ts'
import type { Cluster } from '../test/cluster.ts'
import { ipSet, netConfig } from '../test/ipam.ts'
import { freePorts } from '../test/real/ipam/operator.ts'

const names = ['ctlplane', 'internalapi', 'storage', 'tenant', 'external']

const networkOf = (name: string, index: number): NetConfigSpec['networks'][number] => ({
  name,
  mtu: 1500,
  dnsDomain: `${name}.example.com`,
  subnets: [
    {
      name: 'subnet1',
      cidr: `10.${index}.0.0/16`,
      vlan: 20 + index,
      allocationRanges: [{ start: `10.${index}.0.10`, end: `10.${index}.255.250` }],
    },
  ],
})

const fiveNetworks: NetConfigSpec = { networks: names.map(networkOf) }

/** The same and one more, which nobody asks for: every IPSet must be looked at, and nothing follows. */
export const sixNetworks: NetConfigSpec = { networks: [...names, 'octavia'].map(networkOf) }

export async function furnish({ client }: Cluster): Promise<void> {
  for (const crd of ownCrds) await client.apply(crd, { fieldManager: 'bench' })
  while (!(await client.resource(addressBlocks))) await systemClock.sleep(50)
}

/** A fresh namespace on segments of its own. */
export async function configure({ client }: Cluster, namespace: string): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const made = netConfig(fiveNetworks, { 'stackloom.dev/segment': namespace })
  await client.create({ ...made, metadata: { ...made.metadata, namespace } })
}

export const hostOf = (namespace: string, n: number): IpSet =>
  ipSet(
    `edpm-compute-${n}`,
    names.map((name) => ({ name })),
    namespace,
  )

export interface Witness {
  /** Milliseconds from the first create of so many IPSets to the last one Ready, and of each one's own way. */
  readonly serve: (
    namespace: string,
    many: number,
  ) => Promise<{ readonly ms: number; readonly each: readonly number[] }>
  readonly whenReady: (key: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Another pair of eyes than the operator's: sees each IPSet come and become Ready by a watch of its own. */
export async function openWitness({ client }: Cluster): Promise<Witness> {
  const cache = createCache<IpSet>()
  const control = new AbortController()
  const source = { kind: ipSets }
  const reflector = createReflector({ client, source, cache: cache as never, clock: systemClock })
  const running = reflector.run(control.signal)
  await cache.waitForSync()
  const seen = new Map<string, number>()
  const ready = new Map<string, number>()
  const awaited = new Map<string, () => void>()
  cache.subscribe(({ kind, object }) => {
    const key = objectKey(object.metadata)
    if (!seen.has(key)) seen.set(key, performance.now())
    if (kind === 'deleted' || ready.has(key) || !isReady(object)) return
    ready.set(key, performance.now())
    awaited.get(key)?.()
  })
  const whenReady = (key: string): Promise<void> =>
    ready.has(key) ? Promise.resolve() : new Promise((resolve) => void awaited.set(key, resolve))
  return {
    serve: async (namespace, many) => {
      const hosts = Array.from({ length: many }, (_, n) => hostOf(namespace, n))
      const keys = hosts.map(({ metadata }) => objectKey(metadata))
      const began = performance.now()
      await Promise.all(hosts.map((host) => client.create(host)))
      await Promise.all(keys.map(whenReady))
      const times = keys.map((key) => ready.get(key) ?? 0)
      const end = times.reduce((latest, one) => Math.max(latest, one), 0)
      return { ms: end - began, each: keys.map((key) => (ready.get(key) ?? 0) - (seen.get(key) ?? 0)) }
    },
    whenReady,
    close: async () => {
      control.abort()
      await running
    },
  }
}

function isReady({ status }: IpSet): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}

export interface OperatorProcess {
  readonly peakBytes: () => number
  /** How many times it has looked at an IPSet, and come to the end of it. */
  readonly looks: () => Promise<number>
  /** Resolves when its log says these words, with the time (Unix, in ms) that stands beside them. */
  readonly says: (words: string) => Promise<number>
  readonly kill: () => Promise<void>
  /** As a person stops it: it gives its Lease back. */
  readonly stop: () => Promise<void>
}

/** The built program, with webhooks, elected. */
export async function runOperator(cluster: Cluster): Promise<OperatorProcess> {
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  await cluster.expose(webhookPort)
  const flags = [
    ['--kubeconfig', cluster.kubeconfig],
    ['--webhook-url', `https://127.0.0.1:${webhookPort}`],
    ['--webhook-port', String(webhookPort)],
    ['--health-port', String(healthPort)],
    ['--bind', '127.0.0.1'],
    ['--parts', 'ipam'],
  ].flat()
  const child: ChildProcess = spawn(process.execPath, ['bin/stackloom', 'operator', 'run', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  let heard = (): void => {}
  child.stderr?.on('data', (piece: Buffer) => {
    said += String(piece)
    heard()
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => heard())
  const says = async (words: string): Promise<number> => {
    const line = (): string | undefined => said.split('\n').find((one) => one.includes(words))
    while (!line()) {
      if (child.exitCode !== null) throw new Error(`the operator ended: ${said}`)
      await new Promise<void>((resolve) => void (heard = resolve))
    }
    return Date.parse(/"time":"([^"]+)"/.exec(line() ?? '')?.[1] ?? '')
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
  }
  await says('webhooks are served')
  return {
    peakBytes: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    looks: async () => {
      const page = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text()
      const counts = page.matchAll(/^controller_runtime_reconcile_total\{[^}]*\} (\d+)/gm)
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    },
    says,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
