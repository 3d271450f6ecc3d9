/**
 * Starts a cloud with a compute host in a network of its own and prints how long it took to the first token, until all services
 * answered and until the hypervisor was up, and what it needs of memory; or two such clouds; or does the same steps one
 * after the other, as a person would with the same packages.
 *
 *     unshare --net node --import tsx bench/openstack-run.ts cloud|two-clouds|by-hand ROOT FOLDER
 */
import { readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'
import { describeExit, lastLines, runProcess, succeeded } from '../src/exec/process.ts'
import { createAuthority } from '../src/pki/authority.ts'
import { type Host, startHost } from '../src/sandbox/hosts/host.ts'
import { type Cloud, runCloud } from '../src/sandbox/openstack/cloud.ts'
import type { CloudDefinition } from '../src/sandbox/openstack/cloud-definition.ts'
import { CLOUD_PASSWORD, defineTestCloud } from '../test/cloud-definition.ts'

const VIP = '172.17.0.80'
const defineCloud = (namespace: string): CloudDefinition => ({
  ...defineTestCloud({ network: 'internalapi', vip: VIP, clientAddress: '172.17.0.254', cells: ['cell1'] }),
  namespace,
  names: [{ name: `rabbitmq.${namespace}.svc`, address: VIP }],
})

const TOKEN = `curl -sf -o /dev/null -H 'Content-Type: application/json' -d '${JSON.stringify({
  auth: {
    identity: {
      methods: ['password'],
      password: { user: { name: 'admin', domain: { id: 'default' }, password: CLOUD_PASSWORD } },
    },
  },
})}' http://127.0.0.1:5000/v3/auth/tokens`

const HYPERVISOR = `token=$(curl -sf -o /dev/null -D - -H 'Content-Type: application/json' -d @/run/stackloom/login.json \\
  http://127.0.0.1:5000/v3/auth/tokens | sed -n 's/^x-subject-token: //Ip' | tr -d '\\r')
curl -sf -H "X-Auth-Token: $token" http://127.0.0.1:8774/v2.1/os-hypervisors | grep -q '"state": "up"'`

const [what, root = '', folder = ''] = process.argv.slice(2)
const startedAt = performance.now()
const seconds = (): number => (performance.now() - startedAt) / 1000
const measurements = { cloud: measureCloud, 'two-clouds': measureTwoClouds, 'by-hand': measureByHand }
process.stdout.write(`${JSON.stringify(await measurements[what as keyof typeof measurements]())}\n`)
process.exit(0)

async function measureByHand() {
  const host = await startHost({ name: 'by-hand', root, folder: path.join(folder, 'by-hand') })
  const script = await readFile(path.join(import.meta.dirname, 'openstack-by-hand.sh'), 'utf8')
  const reached = new Map<string, number>()
  const program = { file: 'bash', args: ['-c', script, 'bash', CLOUD_PASSWORD] }
  const onLine = (line: string): unknown => reached.set(line, seconds())
  const { exit, stderr } = await host.exec(program, { timeoutMs: 1_800_000, onLine })
  await host.stop()
  const [token, compute] = [reached.get('token'), reached.get('compute')]
  if (!succeeded(exit) || token === undefined || compute === undefined)
    throw new Error(lastLines(stderr) || describeExit(exit))
  return { token, compute }
}

async function measureCloud() {
  let token = 0
  const cloud = await startCloud('openstack')
  while (cloud.state().kind !== 'running') {
    const { control } = cloud.hosts()
    if (token === 0 && control !== undefined && (await hasToken(control))) token = seconds()
    const state = cloud.state()
    if (state.kind === 'failed') throw new Error(`${state.doing}: ${state.reason}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const ready = seconds()
  const compute = await waitForHypervisor(cloud)
  const memoryMib = await measureMemory(cloud)
  await cloud.stop()
  return { token: token || ready, ready, compute, memoryMib }
}

async function measureTwoClouds() {
  const clouds = await Promise.all(['openstack', 'openstack2'].map(startCloud))
  for (const cloud of clouds) await waitForHypervisor(cloud)
  const ready = seconds()
  await Promise.all(clouds.map((cloud) => cloud.stop()))
  return { ready }
}

async function startCloud(namespace: string): Promise<Cloud> {
  const authority = await createAuthority({ commonName: 'bench' })
  const at = path.join(folder, namespace)
  const cloud = runCloud({ definition: defineCloud(namespace), folder: at, root, authority, onChange: () => undefined })
  cloud.setComputes([{ name: 'compute-0', cell: 'cell1', addresses: { internalapi: '172.17.0.100' } }])
  return cloud
}

async function waitForHypervisor(cloud: Cloud): Promise<number> {
  while (!(await hasHypervisor(cloud))) await new Promise((resolve) => setTimeout(resolve, 500))
  return seconds()
}

async function hasHypervisor(cloud: Cloud): Promise<boolean> {
  const state = cloud.state()
  if (state.kind === 'failed') throw new Error(`${state.doing}: ${state.reason}`)
  if (state.kind !== 'running') return false
  const { control } = cloud.hosts()
  const enter = [`--target=${control}`, '--mount', '--net', '--']
  return succeeded((await runProcess({ file: 'nsenter', args: [...enter, 'bash', '-c', HYPERVISOR] })).exit)
}

async function hasToken(control: number): Promise<boolean> {
  const { exit } = await runProcess({ file: 'nsenter', args: [`--target=${control}`, '--net', 'sh', '-c', TOKEN] })
  return succeeded(exit)
}

/** The proportional share of all processes of the control host. */
async function measureMemory(cloud: Cloud): Promise<number> {
  const { control } = cloud.hosts() as { readonly control: Host['pid'] }
  const namespace = await readlink(`/proc/${control}/ns/pid_for_children`)
  let kib = 0
  for (const id of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    if ((await readlink(`/proc/${id}/ns/pid`).catch(() => undefined)) !== namespace) continue
    const text = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => '')
    kib += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0)
  }
  return kib / 1024
}
