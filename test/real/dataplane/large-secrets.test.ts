/** Stores large Secrets and ConfigMaps in other namespaces, on a real API server, and measures the operator's heap. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mapConcurrently } from '../../../src/async/map-concurrently.ts'
import { useCluster } from '../../cluster.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })
const OBJECTS = 200
const BYTES = 500_000
let operator: RunningOperator | undefined

beforeAll(async () => {
  operator = await startOperator(cluster)
}, 120_000)
afterAll(() => operator?.stop())

function retainedHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

async function readiness(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${operator?.healthPort}/readyz`)
  return response.text()
}

it('keeps the heap of the operator as it is', async () => {
  await expect.poll(readiness, { timeout: 60_000 }).toContain('[+] Secret')
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  const before = retainedHeap()
  // With the labels of the ConfigMaps that the operator watches. One text for each object: equal strings would be one value in this process, but not in the operator.
  await mapConcurrently([...Array(OBJECTS).keys()], 8, async (index) => {
    const kind = index % 2 === 0 ? 'ConfigMap' : 'Secret'
    const text = `${index} `.padEnd(BYTES, 'x')
    const data = kind === 'Secret' ? { text: Buffer.from(text).toString('base64') } : { text }
    const labels = kind === 'ConfigMap' ? { 'dnsmasq.openstack.org/name': 'dns', dnsmasqhosts: 'dnsdata' } : {}
    const metadata = { name: `n${index}`, namespace: 'other', labels }
    await cluster.client.create({ apiVersion: 'v1', kind, metadata, data })
  })
  const counted = async (): Promise<number> => (await metric('reflector_events_total')) ?? 0
  await expect.poll(counted, { timeout: 60_000 }).toBeGreaterThanOrEqual(OBJECTS)
  expect((retainedHeap() - before) / 1_000_000).toBeLessThan(25)
}, 300_000)

/** The sum over the reflectors of Secrets and ConfigMaps. */
async function metric(name: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${operator?.healthPort}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(name) && /Secret|ConfigMap/.test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
