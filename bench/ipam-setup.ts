/** Sets up the IPAM bench: the operator as a process, IPSets on five networks, and an observer of their status. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { addressBlocks } from '../src/api/address-block.ts'
import { type IpSet, ipSets } from '../src/api/ipset.ts'
import type { NetConfigSpec } from '../src/api/netconfig.ts'
import { objectKey } from '../src/api/object.ts'
import { systemClock } from '../src/clock/clock.ts'
import { createCache } from '../src/kube/cache.ts'
import { createReflector } from '../src/kube/reflector.ts'
import { NODE_OPTIONS } from '../src/operator/manifests.ts'
import { ownCrds } from '../src/operator/parts.ts'
import type { Cluster } from '../test/cluster.ts'
import { ipSet, netConfig } from '../test/ipam.ts'
import { freePorts } from '../test/real/ipam/operator.ts'
import { type EventLoopMeter, eventLoopMeter, measureEventLoopArgs } from '../tools/event-loop.ts'

const names = ['ctlplane', 'internalapi', 'storage', 'tenant', 'external']

const buildNetwork = (name: string, index: number): NetConfigSpec['networks'][number] => ({
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

const fiveNetworks: NetConfigSpec = { networks: names.map(buildNetwork) }

/** One network more, which no IPSet requests: every IPSet is reconciled without effect. */
export const sixNetworks: NetConfigSpec = { networks: [...names, 'octavia'].map(buildNetwork) }

export async function installCrds({ client }: Cluster): Promise<void> {
  for (const crd of ownCrds) await client.apply(crd, { fieldManager: 'bench' })
  while (!(await client.resource(addressBlocks))) await systemClock.sleep(50)
}

/** Creates a namespace with a NetConfig on its own segments. */
export async function configure({ client }: Cluster, namespace: string): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const made = netConfig(fiveNetworks, { 'stackloom.dev/segment': namespace })
  await client.create({ ...made, metadata: { ...made.metadata, namespace } })
}

export const buildIpSet = (namespace: string, n: number): IpSet =>
  ipSet(
    `edpm-compute-${n}`,
    names.map((name) => ({ name })),
    namespace,
  )

export interface Observer {
  /** Milliseconds from the first create to the last Ready, and from event to Ready for each IPSet. */
  readonly serve: (
    namespace: string,
    many: number,
  ) => Promise<{ readonly ms: number; readonly each: readonly number[] }>
  readonly whenReady: (key: string) => Promise<void>
  /** Milliseconds from event to Ready of each IPSet of a namespace. */
  readonly timesToReady: (namespace: string) => readonly number[]
  readonly close: () => Promise<void>
}

/** Watches IPSets independently of the operator. */
export async function openObserver({ client }: Cluster): Promise<Observer> {
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
  const timeToReady = (key: string): number => (ready.get(key) ?? 0) - (seen.get(key) ?? 0)
  return {
    timesToReady: (namespace) => [...ready.keys()].filter((key) => key.startsWith(`${namespace}/`)).map(timeToReady),
    serve: async (namespace, many) => {
      const hosts = Array.from({ length: many }, (_, n) => buildIpSet(namespace, n))
      const keys = hosts.map(({ metadata }) => objectKey(metadata))
      const began = performance.now()
      await Promise.all(hosts.map((host) => client.create(host)))
      await Promise.all(keys.map(whenReady))
      const times = keys.map((key) => ready.get(key) ?? 0)
      const end = times.reduce((latest, time) => Math.max(latest, time), 0)
      return { ms: end - began, each: keys.map(timeToReady) }
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
  readonly pid: number
  readonly meter: EventLoopMeter
  readonly peakBytes: () => number
  /** The number of finished reconciles. */
  readonly reconciles: () => Promise<number>
  /** Resolves when the log has this text, with the time of the entry (Unix, in ms). */
  readonly waitForLog: (text: string) => Promise<number>
  readonly kill: () => Promise<void>
  /** Stops it gracefully: it releases its Lease. */
  readonly stop: () => Promise<void>
}

/** Starts the built program as its Deployment does, with webhooks and leader election. */
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
  const child: ChildProcess = spawn(
    process.execPath,
    [...measureEventLoopArgs, 'bin/stackloom', 'operator', 'run', ...flags],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { ...process.env, NODE_OPTIONS } },
  )
  let log = ''
  let notify = (): void => {}
  child.stderr?.on('data', (piece: Buffer) => {
    log += String(piece)
    notify()
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => notify())
  const waitForLog = async (text: string): Promise<number> => {
    const line = (): string | undefined => log.split('\n').find((entry) => entry.includes(text))
    while (!line()) {
      if (child.exitCode !== null) throw new Error(`the operator ended: ${log}`)
      await new Promise<void>((resolve) => void (notify = resolve))
    }
    return Date.parse(/"time":"([^"]+)"/.exec(line() ?? '')?.[1] ?? '')
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
  }
  await waitForLog('webhooks are served')
  return {
    pid: child.pid ?? 0,
    meter: eventLoopMeter(child),
    peakBytes: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    reconciles: async () => {
      const page = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text()
      const counts = page.matchAll(/^controller_runtime_reconcile_total\{[^}]*\} (\d+)/gm)
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    },
    waitForLog,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
