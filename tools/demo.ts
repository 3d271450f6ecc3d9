/**
 * `make demo`: two clouds on one cluster, on this machine. A real API server and a real MetalLB; the addresses are
 * MetalLB's, and so is the reason why a thief gets none.
 */
import pc from 'picocolors'
import type { KubeObject } from '../src/api/object.ts'
import { processIo } from '../src/cli/io.ts'
import { formatFindings } from '../src/cli/output/findings.ts'
import { formatTable } from '../src/cli/output/table.ts'
import { narrator } from '../src/cli/sandbox/narrate.ts'
import { Failure } from '../src/errors/failure.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { connect } from '../src/kube/connect.ts'
import { namespaceRefusal } from '../src/sandbox/launch.ts'
import { resetSandbox, type SandboxContext, startSandbox } from '../src/sandbox/sandbox.ts'
import { sandboxContext } from '../test/sandbox-context.ts'

interface DemoService {
  readonly namespace: string
  readonly name: string
  readonly pool: string
}

const NAME = 'demo'
const MANAGER = 'stackloom'

const clouds = [
  {
    namespace: 'openstack',
    pools: { internalapi: '172.17.0.80-172.17.0.90', ctlplane: '192.168.122.80-192.168.122.90' },
  },
  {
    namespace: 'openstack2',
    pools: { internalapi: '172.17.10.80-172.17.10.90', ctlplane: '192.168.133.80-192.168.133.90' },
  },
] as const

const services: readonly DemoService[] = clouds.flatMap(({ namespace }) => [
  { namespace, name: 'keystone-internal', pool: `${namespace}-internalapi` },
  { namespace, name: 'rabbitmq', pool: `${namespace}-internalapi` },
  { namespace, name: 'dnsmasq-dns', pool: `${namespace}-ctlplane` },
])

const thief: DemoService = { namespace: 'openstack2', name: 'thief', pool: 'openstack-internalapi' }

const io = processIo()
const { bold, dim, green, yellow } = pc.createColors(io.colour.stdout)
const { say, end } = narrator(io)

const print = (text = ''): void => io.stdout(`${text}\n`)
const heading = (text: string): void => print(`\n${bold(text)}`)

async function demo(context: SandboxContext): Promise<void> {
  print(bold('Stackloom: two OpenStack clouds on one cluster, on this machine'))
  const netns = (await namespaceRefusal(context.exec)) === undefined
  await resetSandbox(NAME, context)
  const began = Date.now()
  const status = await startSandbox({ name: NAME, crds: 'none', netns }, context)
  end()
  heading('1. A real cluster')
  print(
    `   ${green('ready')} after ${((Date.now() - began) / 1000).toFixed(1)} s: ${status.programs.map(({ name }) => name).join(', ')}`,
  )
  print(dim(`   ${status.server}, ${netns ? 'in a network namespace of its own' : 'on loopback'}`))
  const connection = await connect({ kubeconfig: status.kubeconfig, env: {} })
  try {
    await showPools(connection.client)
    await showServices(connection.client)
    await showThief(connection.client)
  } finally {
    await connection.close()
  }
}

async function showPools(client: KubeClient): Promise<void> {
  heading('2. Pools that belong to one cloud each')
  const rows: string[][] = []
  for (const { namespace, pools } of clouds) {
    await apply(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    for (const [network, addresses] of Object.entries(pools)) {
      const name = `${namespace}-${network}`
      await apply(client, {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'IPAddressPool',
        metadata: { namespace: 'metallb-system', name },
        spec: { addresses: [addresses], autoAssign: false, serviceAllocation: { namespaces: [namespace] } },
      })
      rows.push([`   ${namespace}`, name, addresses])
    }
  }
  io.stdout(formatTable(['   CLOUD', 'POOL', 'ADDRESSES'], rows, io.columns))
}

async function showServices(client: KubeClient): Promise<void> {
  heading('3. Services, with the addresses that MetalLB gave')
  for (const service of services) await apply(client, loadBalancer(service))
  const rows: string[][] = []
  for (const service of services) {
    const address = await until(`an address for ${service.namespace}/${service.name}`, () =>
      addressOf(client, service),
    )
    rows.push([`   ${service.namespace}`, service.name, service.pool, address])
  }
  io.stdout(formatTable(['   CLOUD', 'SERVICE', 'POOL', 'ADDRESS'], rows, io.columns))
}

async function showThief(client: KubeClient): Promise<void> {
  heading(`4. A Service of ${thief.namespace} that names a pool of ${clouds[0].namespace}`)
  await apply(client, loadBalancer(thief))
  const reason = await until('what MetalLB says to the thief', () => refusalOf(client, thief))
  const address = await addressOf(client, thief)
  print(`   ${thief.namespace}/${thief.name}  ${thief.pool}  ${yellow(address ?? 'pending')}`)
  print(`   MetalLB: ${reason}`)
  if (address !== undefined) throw new Error(`the thief got ${address}`)
}

function loadBalancer({ namespace, name, pool }: DemoService): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name, annotations: { 'metallb.io/address-pool': pool } },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  }
}

async function apply(client: KubeClient, object: KubeObject): Promise<void> {
  await client.apply(object, { fieldManager: MANAGER })
}

async function addressOf(client: KubeClient, { namespace, name }: DemoService): Promise<string | undefined> {
  const found = await client.get({ apiVersion: 'v1', kind: 'Service', namespace, name })
  const status = found?.['status'] as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined
  return status?.loadBalancer?.ingress?.[0]?.ip
}

async function refusalOf(client: KubeClient, { namespace, name }: DemoService): Promise<string | undefined> {
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Event' }, { namespace })
  const about = items.filter(
    (event) => (event['involvedObject'] as { name?: string } | undefined)?.name === name,
  )
  return about.find((event) => event['reason'] === 'AllocationFailed')?.['message'] as string | undefined
}

async function until(what: string, look: () => Promise<string | undefined>): Promise<string> {
  for (let tries = 0; tries < 300 && !io.stop.aborted; tries += 1) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`waited in vain for ${what}`)
}

const context: SandboxContext = { ...sandboxContext(say), signal: io.stop }
try {
  await demo(context)
  heading('5. Stopped; nothing is left running')
} catch (error) {
  end()
  if (!(error instanceof Failure)) throw error
  io.stderr(formatFindings(error.findings, io.colour.stderr))
  process.exitCode = error.exitCode
} finally {
  await resetSandbox(NAME, context)
}
