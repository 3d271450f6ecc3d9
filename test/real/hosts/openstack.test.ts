/** Runs the real services behind two control planes, as `sandbox start --openstack` and `up` do, and asks them as a user would. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findCondition, getField, getList, getString } from '../../../src/api/raw-object.ts'
import { type ExitStatus, type Program, runProcess, startProcess, toProgram } from '../../../src/exec/process.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Connection, connect } from '../../../src/kube/connect.ts'
import { readClouds } from '../../../src/sandbox/openstack/clouds.ts'
import type { ProcessLock } from '../../../src/sandbox/process-lock.ts'
import { resetSandbox, startSandbox, stopSandbox } from '../../../src/sandbox/sandbox.ts'
import { locateSandbox } from '../../../src/sandbox/settings.ts'
import { takeClusterSlot } from '../../cluster.ts'
import { count, requireSoak } from '../../counts.ts'
import { prepareRootFileSystem } from '../../hosts.ts'
import { processesInNetworks, processesWith, stillRunning } from '../../processes.ts'
import { sandboxContext } from '../../sandbox-context.ts'

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 3_600_000 })

/** Two hosts are needed to move instances. */
const HOSTS = ['compute-0', 'compute-1'].slice(0, count({ test: 1, soak: 2 }))

/** Keystone alone in the second cloud is enough to tell two clouds apart. */
const SITE = `apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: two}
spec:
  cluster:
    dns: [192.168.122.1]
    storageClass: local-storage
    nodes:
    - {name: worker-0, nic: enp6s0}
    - {name: worker-1, nic: enp6s0}
    - {name: worker-2, nic: enp6s0}
  clouds:
  - {name: rhoso1, namespace: openstack, hosts: [${HOSTS.map((name) => `{name: ${name}}`).join(', ')}]}
  - name: rhoso2
    namespace: openstack2
    services:
      placement: {enabled: false}
      glance: {enabled: false}
      neutron: {enabled: false}
      ovn: {enabled: false}
      nova: {enabled: false}
`

const NAME = 'openstack-test'
const NODE_SET = { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' }
const CONTROL_PLANE = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane', name: 'controlplane' }

let refusal: string | undefined
let lock: ProcessLock | undefined
let state = ''
let connection: Connection
let client: KubeClient
let env: Record<string, string | undefined> = {}
const base = sandboxContext()
let context = base

beforeAll(async () => {
  const prepared = await prepareRootFileSystem()
  if ('refusal' in prepared) {
    refusal = prepared.refusal
    return
  }
  lock = await takeClusterSlot()
  state = await mkdtemp(path.join(tmpdir(), 'stackloom-openstack-'))
  // The command line finds the same sandbox by this variable.
  env = { ...process.env, XDG_STATE_HOME: state }
  context = { ...base, env, paths: { ...base.paths, sandboxes: path.join(state, 'stackloom', 'sandboxes') } }
  const nodes = ['worker-0', 'worker-1', 'worker-2']
  const { kubeconfig } = await startSandbox({ name: NAME, openstack: true, nodes }, context)
  env = { ...env, KUBECONFIG: kubeconfig }
  connection = await connect({ kubeconfig, env })
  client = connection.client
  await writeFile(path.join(state, 'site.yaml'), SITE)
  const up = await stackloom('up', '--yes')
  if (up.code !== 0) throw new Error(up.output)
  for (const cloud of ['rhoso1', 'rhoso2']) {
    const access = await stackloom('access', '--cloud', cloud)
    if (access.code !== 0) throw new Error(access.output)
  }
})

beforeEach((ctx) => {
  if (refusal !== undefined) ctx.skip(refusal)
})

afterAll(async () => {
  await connection?.close()
  if (state !== '') {
    await resetSandbox(NAME, context)
    await rm(state, { recursive: true, force: true })
  }
  await lock?.release()
}, 240_000)

async function stackloom(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const program = { ...toProgram([...context.self, ...args]), cwd: state, env }
  const { exit, stdout, stderr } = await runProcess(program)
  return { code: exit.kind === 'exited' ? exit.code : 1, output: `${stdout}${stderr}` }
}

/** Runs a command as a client of a cloud. */
function asClient(cloud: string, ...command: readonly string[]) {
  return stackloom('sandbox', 'exec', '--name', NAME, '--cloud', cloud, '--', ...command)
}

function openstack(cloud: string, ...words: readonly string[]) {
  return asClient(cloud, 'openstack', '--os-cloud', cloud, ...words)
}

const patient = { timeout: 600_000, interval: 2000 }

/** The compute hosts of rhoso1 with their status, each on a line. */
async function computes(): Promise<string> {
  const words = ['compute', 'service', 'list', '--service', 'nova-compute', '-f', 'value', '-c', 'Host', '-c', 'Status']
  return (await openstack('rhoso1', ...words)).output.trim().split('\n').toSorted().join('\n')
}

async function computeNames(): Promise<readonly string[]> {
  return (await computes()).split('\n').map((line) => line.split(' ')[0] ?? '')
}

/** The host of an instance, and its status. */
async function serverPlace(name: string): Promise<string> {
  return must('server', 'show', name, '-f', 'value', '-c', 'OS-EXT-SRV-ATTR:host', '-c', 'status')
}

async function must(...words: readonly string[]): Promise<string> {
  const { code, output } = await openstack('rhoso1', ...words)
  expect(code, output).toBe(0)
  return output.trim()
}

/** Nova schedules on hosts that a cell has and that have inventory. */
async function waitForHypervisors(): Promise<void> {
  const words = ['resource', 'provider', 'list', '-f', 'value', '-c', 'name']
  await expect
    .poll(async () => (await openstack('rhoso1', ...words)).output, patient)
    .toMatch(/compute-[01].*\n.*compute-[01]/)
  const known = ['hypervisor', 'list', '-f', 'value', '-c', 'State']
  await expect.poll(async () => (await openstack('rhoso1', ...known)).output.trim(), patient).toBe('up\nup')
}

/** Creates an instance with the fake driver of Nova; returns its state. */
async function createServer(name: string, ...more: readonly string[]): Promise<string> {
  await must('flavor', 'create', '--ram', '64', '--disk', '0', '--vcpus', '1', `tiny-${name}`)
  await must('image', 'create', '--disk-format', 'raw', '--file', '/etc/hostname', `none-${name}`)
  const what = ['--flavor', `tiny-${name}`, '--image', `none-${name}`, '--nic', 'none', ...more]
  const shown = ['-f', 'value', '-c', 'status']
  return must('--os-compute-api-version', '2.79', 'server', 'create', '--wait', ...what, ...shown, name)
}

/** A command of this program that runs where it reaches both the API server and the VIPs of a cloud. */
async function sandboxProgram(namespace: string, args: readonly string[]): Promise<Program> {
  const folder = locateSandbox(context.paths, NAME)
  const { output } = await stackloom('sandbox', 'status', '--name', NAME, '-o', 'json')
  const { supervisor } = JSON.parse(output) as { readonly supervisor: number }
  const clouds = await readClouds(folder.openstack)
  const client = clouds.find((cloud) => cloud.namespace === namespace)?.hosts['client']
  // The bridges have no addresses of their own: nothing of this machine can reach a cloud by accident.
  const script = `ip -o link show type bridge | while IFS= read -r line; do
  bridge=$(echo "$line" | cut -d : -f 2 | tr -d ' ')
  case "$line" in
  *"alias ${namespace} internalapi"*) ip address replace 172.17.0.251/24 dev "$bridge";;
  *"alias ${namespace} ctlplane"*) ip address replace 192.168.122.251/24 dev "$bridge";;
  esac
done
cat /proc/${client}/root/etc/hosts >names && mount --bind names /etc/hosts && exec "$@"`
  const enter = ['nsenter', `--target=${supervisor}`, '--net', 'unshare', '--mount', 'sh', '-c', script, 'sh']
  const program = { ...toProgram([...enter, ...context.self, ...args]), cwd: state }
  return { ...program, env: { ...env, KUBECONFIG: path.join(folder.pki, 'admin.kubeconfig') } }
}

async function inSandbox(namespace: string, ...args: readonly string[]) {
  const { exit, stdout, stderr } = await runProcess(await sandboxProgram(namespace, args))
  return { code: exit.kind === 'exited' ? exit.code : 1, stdout, output: `${stdout}${stderr}` }
}

/** Kills the command with SIGKILL when it has printed this text. */
async function killInSandbox(text: string, namespace: string, ...args: readonly string[]): Promise<ExitStatus> {
  const running = startProcess(await sandboxProgram(namespace, args), {
    onLine: (line) => {
      if (line.includes(text)) running.kill('SIGKILL')
    },
  })
  return running.exit
}

/** Other tests have clouds on this machine, too. */
async function cloudProcesses(): Promise<readonly string[]> {
  const clouds = await readClouds(locateSandbox(context.paths, NAME).openstack)
  return processesInNetworks(clouds.flatMap(({ hosts }) => Object.values(hosts)))
}

async function onControlHost(namespace: string, script: string): Promise<string> {
  const clouds = await readClouds(locateSandbox(context.paths, NAME).openstack)
  const pid = clouds.find((cloud) => cloud.namespace === namespace)?.hosts['control']
  const enter = ['nsenter', `--target=${pid}`, '--mount', '--net', `--pid=/proc/${pid}/ns/pid_for_children`, '--']
  const { stdout } = await runProcess(toProgram([...enter, 'bash', '-c', script]))
  return stdout.trim()
}

/** The status with which keystone answers a request that needs its database. OpenStack's client takes seconds to load. */
function listUsers(namespace: string, token: string): Promise<string> {
  const request = `-H 'X-Auth-Token: ${token}' http://127.0.0.1:5000/v3/users`
  return onControlHost(namespace, `curl -s -o /dev/null -w '%{http_code}' ${request}`)
}

/** What doctor prints; it ignores an error that may be of the moment. */
async function diagnosis(): Promise<string> {
  return (await stackloom('doctor', '-o', 'json')).output
}

interface Verification {
  readonly checks: readonly {
    readonly id: string
    readonly verdict: string
    readonly seen: string
    readonly findings: readonly { readonly code: string; readonly message: string }[]
  }[]
}

async function readReady(namespace: string) {
  const object = await client.get({ ...CONTROL_PLANE, namespace })
  return object && findCondition(object, 'Ready')
}

/** By cloud. */
const tokens = new Map<string, string>()
/** A project that a stop must not lose. */
let kept = ''

describe('sandbox start --openstack and up', () => {
  it('end in clouds whose keystone gives a token for the clouds.yaml of access', async () => {
    for (const cloud of ['rhoso1', 'rhoso2']) {
      const { code, output } = await openstack(cloud, 'token', 'issue', '-f', 'value', '-c', 'id')
      expect(output).toMatch(/^gAAAA\S+\n$/)
      expect(code).toBe(0)
      tokens.set(cloud, output.trim())
    }
  })

  it('list real services in both cells of nova, with endpoints on the VIPs of MetalLB', async () => {
    const { output } = await openstack('rhoso1', ...'compute service list -f value -c Binary -c State'.split(' '))
    expect(output).toMatch(/nova-scheduler up/)
    expect(output.match(/nova-conductor up/g)).toHaveLength(2)
    const internal = await openstack('rhoso1', ...'endpoint list --interface internal -f value -c URL'.split(' '))
    expect(internal.output).toContain('https://nova-internal.openstack.svc:8774/v2.1')
    const service = await client.get({
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'openstack',
      name: 'nova-internal',
    })
    const vip = getString(getList(service, 'status', 'loadBalancer', 'ingress')[0], 'ip')
    expect((await asClient('rhoso1', 'getent', 'hosts', 'nova-internal.openstack.svc')).output).toContain(`${vip} `)
  })

  it('run services with our settings, not with those of the packages', async () => {
    const users = await onControlHost(
      'openstack',
      "mariadb -BNe 'SELECT DISTINCT user FROM information_schema.processlist'",
    )
    for (const user of ['keystone', 'nova', 'neutron', 'glance', 'placement']) expect(users.split('\n')).toContain(user)
  })

  it('keep the clouds apart: neither tokens, names nor packets of one are of use in the other', async () => {
    const token = tokens.get('rhoso1') ?? ''
    expect(await listUsers('openstack', token)).toBe('200')
    expect(await listUsers('openstack2', token)).toBe('401')
    const packet = await asClient('rhoso2', 'ping', '-c', '1', '-W', '2', '172.17.0.80')
    expect(packet.code).not.toBe(0)
    const unknown = await asClient('rhoso2', 'getent', 'hosts', 'keystone-internal.openstack.svc')
    expect(unknown.output).toBe('')
  })

  it('are listed by sandbox status, with what is simulated', async () => {
    const { output } = await stackloom('sandbox', 'status', '--name', NAME, '-o', 'json')
    const { clouds } = JSON.parse(output) as { clouds: readonly { cloud: string; services: readonly string[] }[] }
    expect(clouds).toMatchObject([
      { cloud: 'rhoso1', services: ['keystone', 'placement', 'glance', 'neutron', 'nova'], simulated: ['dns'] },
      { cloud: 'rhoso2', services: ['keystone'] },
    ])
  })

  it('run an instance for the clouds.yaml of access, and the other cloud knows nothing of it', async (ctx) => {
    requireSoak(ctx)
    await expect.poll(computes, patient).toMatch(/compute-0\S* enabled\ncompute-1\S* enabled/)
    await waitForHypervisors()
    expect(await createServer('first')).toMatch(/ACTIVE$/)
    await must('project', 'create', 'of-rhoso1')
    await must('server', 'delete', '--wait', 'first')
    const projects = await openstack('rhoso2', 'project', 'list', '-f', 'value', '-c', 'Name')
    expect(projects).toMatchObject({ code: 0 })
    expect(projects.output).not.toContain('of-rhoso1')
    expect((await openstack('rhoso2', 'server', 'list')).output).toMatch(/compute.*not found|not found.*compute/i)
  })

  it('take a host out of service with its instances, and bring it back', async (ctx) => {
    requireSoak(ctx)
    await expect.poll(computes, patient).toMatch(/compute-0\S* enabled\ncompute-1\S* enabled/)
    await waitForHypervisors()
    const [first = '', second = ''] = await computeNames()
    for (const name of ['running', 'stopped']) expect(await createServer(name, '--host', second)).toMatch(/ACTIVE$/)
    await must('server', 'stop', 'stopped')
    await expect.poll(() => serverPlace('stopped'), patient).toBe(`${second}\nSHUTOFF`)
    const drained = await inSandbox('openstack', 'hosts', 'drain', 'compute-1', '--yes')
    expect(drained, drained.output).toMatchObject({ code: 0 })
    expect(await computes()).toMatch(/compute-0\S* enabled\ncompute-1\S* disabled/)
    expect(await serverPlace('running')).toBe(`${first}\nACTIVE`)
    // Confirmed, and as it was.
    await expect.poll(() => serverPlace('stopped'), patient).toBe(`${first}\nSHUTOFF`)
    const enabled = await inSandbox('openstack', 'hosts', 'enable', 'compute-1', '--yes')
    expect(enabled, enabled.output).toMatchObject({ code: 0 })
    expect(await computes()).toMatch(/compute-1\S* enabled/)
  })

  it('remove a host with its instances, also when the removal is killed', async (ctx) => {
    requireSoak(ctx)
    const [first = '', second = ''] = await computeNames()
    for (const name of ['fourth', 'fifth', 'sixth'])
      expect(await createServer(name, '--host', second)).toMatch(/ACTIVE$/)
    const remove = ['hosts', 'remove', 'compute-1', '-n', 'openstack', '--yes']
    const refused = await inSandbox('openstack', ...remove)
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('SL7203')
    // Killed while instances move, one after the other.
    const oneByOne = [...remove, '--drain', '--parallel', '1', '--events', 'jsonl']
    const killed = await killInSandbox('1 of 3 instances moved', 'openstack', ...oneByOne)
    expect(killed).toEqual({ kind: 'killed', signal: 'SIGKILL' })
    const removed = await inSandbox('openstack', ...remove, '--drain', '-o', 'json')
    expect(removed, removed.output).toMatchObject({ code: 0 })
    const { proof } = JSON.parse(removed.stdout) as { readonly proof: readonly { readonly isGone: boolean }[] }
    expect(proof.length).toBeGreaterThan(0)
    expect(proof.every(({ isGone }) => isGone)).toBe(true)
    for (const name of ['fourth', 'fifth', 'sixth']) expect(await serverPlace(name)).toBe(`${first}\nACTIVE`)
    expect(await computes()).toMatch(/^compute-0\S* enabled$/)
    const listed = async (...words: readonly string[]): Promise<string> =>
      (await openstack('rhoso1', ...words, '-f', 'value')).output
    expect(await listed('resource', 'provider', 'list', '-c', 'name')).toMatch(/^compute-0\S*\n$/)
    expect(await listed('hypervisor', 'list', '-c', 'Hypervisor Hostname')).toMatch(/^compute-0\S*\n$/)
    expect(await listed('network', 'agent', 'list', '-c', 'Host')).not.toContain('compute-1')
    // A migration that was left would hold a part of the host that has the instances now.
    const consumers = 'SELECT DISTINCT consumer_id FROM placement.allocations ORDER BY consumer_id'
    const servers = (await listed('server', 'list', '--all-projects', '-c', 'ID')).trim().split('\n')
    expect((await onControlHost('openstack', `mariadb -BNe "${consumers}"`)).split('\n')).toEqual(servers.toSorted())
    const nodeSets = await client.list(NODE_SET, { namespace: 'openstack' })
    expect(nodeSets.items.flatMap((item) => Object.keys(getField(item, 'spec', 'nodes') ?? {}))).toEqual(['compute-0'])
  })

  it('say which compute host does not run, why, and where its log is', async (ctx) => {
    requireSoak(ctx)
    const onCompute = async (script: string): Promise<void> => {
      const clouds = await readClouds(locateSandbox(context.paths, NAME).openstack)
      const { hosts } = clouds.find(({ namespace }) => namespace === 'openstack') ?? {}
      const [pid] = Object.entries(hosts ?? {}).flatMap(([name, id]) => (name.startsWith('compute-0') ? [id] : []))
      const enter = ['nsenter', `--target=${pid}`, '--mount', `--pid=/proc/${pid}/ns/pid_for_children`, '--']
      await runProcess(toProgram([...enter, 'sh', '-c', script]))
    }
    const status = (): Promise<string> => stackloom('sandbox', 'status', '--name', NAME).then(({ output }) => output)
    expect(await status()).toMatch(/compute-0\S* +rhoso1 +cell1 +running/)
    await onCompute('chmod 000 /usr/bin/nova-compute; pkill -f [n]ova-compute')
    await expect
      .poll(status, patient)
      .toMatch(
        /SL1256: compute host compute-0\S* of rhoso1 does not run: nova-compute exited[^]*compute-0\S*\/nova-compute\.log/,
      )
    await onCompute('chmod 755 /usr/bin/nova-compute')
    await expect.poll(status, patient).toMatch(/compute-0\S* +rhoso1 +cell1 +running/)
  })

  it('start a killed database again', async () => {
    const pid = await onControlHost('openstack2', 'pgrep -o mariadbd')
    await onControlHost('openstack2', `kill -9 ${pid}`)
    const answers = (): Promise<string> => listUsers('openstack2', tokens.get('rhoso2') ?? '')
    await expect.poll(answers, { timeout: 240_000, interval: 500 }).toBe('200')
    expect(await onControlHost('openstack2', 'pgrep -o mariadbd')).not.toBe(pid)
  })

  it('answer verify where it reaches their public endpoints, and fail it when one does not work', async () => {
    const ask = () => inSandbox('openstack', 'verify', '--ask-endpoints', '--cloud', 'rhoso1', '-o', 'json')
    const endpoints = (stdout: string) =>
      (JSON.parse(stdout) as Verification).checks.find(({ id }) => id === 'keystone-endpoints')
    const healthy = await ask()
    expect(endpoints(healthy.stdout), healthy.output).toMatchObject({
      verdict: 'passed',
      seen: expect.stringMatching(/, 5 of 5 answered$/),
    })
    const [stop, resume] = ['STOP', 'CONT'].map((signal) => `pkill -${signal} -f [g]lance-api`)
    await onControlHost('openstack', stop ?? '')
    try {
      const broken = await ask()
      expect(broken.code).toBe(1)
      expect(endpoints(broken.stdout)?.findings).toMatchObject([
        { code: 'SL9065', message: expect.stringMatching(/^image of rhoso1 at https:/) },
      ])
    } finally {
      await onControlHost('openstack', resume ?? '')
    }
  })

  it('report a database that does not come back in the conditions and by doctor', async (ctx) => {
    // Doctor waits for minutes before it takes an error for a lasting one.
    requireSoak(ctx)
    await onControlHost('openstack2', 'chmod 000 /usr/sbin/mariadbd; pkill -9 -o mariadbd')
    await expect
      .poll(async () => (await readReady('openstack2'))?.message, { timeout: 300_000, interval: 1000 })
      .toMatch(/keystone does not work: .*mariadb exited with code/)
    await expect.poll(diagnosis, patient).toMatch(/keystone does not work: .*mariadb exited with code/)
    await onControlHost('openstack2', 'chmod 755 /usr/sbin/mariadbd')
    await expect
      .poll(async () => (await readReady('openstack2'))?.status, { timeout: 300_000, interval: 1000 })
      .toBe('True')
  })

  it('name a refused password and a full disk in the conditions and by doctor', async (ctx) => {
    requireSoak(ctx)
    const message = async (): Promise<string | undefined> => (await readReady('openstack2'))?.message
    const { database } = JSON.parse(
      await readFile(path.join(locateSandbox(context.paths, NAME).openstack, 'openstack2', 'secrets.json'), 'utf8'),
    ) as { readonly database: string }
    const setPassword = (password: string): Promise<string> =>
      onControlHost(
        'openstack2',
        `mariadb -e "ALTER USER keystone@'%' IDENTIFIED BY '${password}'"; pkill -f [k]eystone-`,
      )
    await setPassword('another')
    const refused = /keystone does not work: .*Access denied for user 'keystone'/
    await expect.poll(message, patient).toMatch(refused)
    await expect.poll(diagnosis, patient).toMatch(refused)
    await setPassword(database)
    await expect.poll(async () => (await readReady('openstack2'))?.status, patient).toBe('True')
    // The data moves to a file system with no room for the temporary files that the database makes when it starts.
    await onControlHost(
      'openstack2',
      `kill -STOP $(pgrep -o mariadbd); cp -a /var/lib/mysql /var/lib/copy; rm -f /var/lib/copy/ibtmp1
mount -t tmpfs -o size=$(($(du -sk /var/lib/copy | cut -f 1) + 4096))k tmpfs /var/lib/mysql
cp -a /var/lib/copy/. /var/lib/mysql; chown mysql: /var/lib/mysql; pkill -KILL -o mariadbd`,
    )
    const full = /keystone does not work: .*mariadb exited with .*error 28/
    await expect.poll(message, patient).toMatch(full)
    await expect.poll(diagnosis, patient).toMatch(full)
    await onControlHost('openstack2', 'umount -l /var/lib/mysql')
    await expect.poll(async () => (await readReady('openstack2'))?.status, patient).toBe('True')
  })

  it('leave no process, mount or namespace when the sandbox stops', async () => {
    kept = (await openstack('rhoso2', 'project', 'create', 'kept', '-f', 'value', '-c', 'id')).output.trim()
    const processes = await cloudProcesses()
    expect(processes.length).toBeGreaterThan(20)
    await connection.close()
    await stopSandbox(NAME, context)
    expect(await processesWith(state)).toEqual([])
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(state)
    expect(await stillRunning(processes)).toEqual([])
  })

  it('have their data again when the sandbox starts', async (ctx) => {
    requireSoak(ctx)
    const { kubeconfig } = await startSandbox({ name: NAME }, context)
    connection = await connect({ kubeconfig, env })
    client = connection.client
    const answers = (): Promise<string> => listUsers('openstack2', tokens.get('rhoso2') ?? '')
    await expect.poll(answers, patient).toBe('200')
    const after = await openstack('rhoso2', 'project', 'show', 'kept', '-f', 'value', '-c', 'id')
    expect(after.output.trim()).toBe(kept)
  })

  it('leave nothing when the supervisor is killed', async (ctx) => {
    requireSoak(ctx)
    const { output } = await stackloom('sandbox', 'status', '--name', NAME, '-o', 'json')
    const processes = await cloudProcesses()
    process.kill((JSON.parse(output) as { supervisor: number }).supervisor, 'SIGKILL')
    await expect.poll(() => processesWith(state), { timeout: 120_000 }).toEqual([])
    await expect.poll(() => stillRunning(processes), { timeout: 120_000 }).toEqual([])
  })
})
