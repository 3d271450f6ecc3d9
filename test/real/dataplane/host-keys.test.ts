/** Tests that runs check SSH host keys: real Ansible over real SSH to a node whose key changes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildJob } from '../../../src/dataplane/execution/jobs/build-job.ts'
import { parseReportedKeys } from '../../../src/dataplane/execution/jobs/pod-command.ts'
import { type AnsibleRunStatus, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { type DataPlaneNode, dataPlaneNodes, HOST_KEYS_ANNOTATION } from '../../../src/dataplane/kinds/data-plane.ts'
import { runProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import type { EventRecord } from '../../../src/kube/event-recorder.ts'
import { useCluster } from '../../cluster.ts'
import { dataPlaneNode } from '../../data-plane.ts'
import { useNodes } from './nodes.ts'
import { operateRuns } from './run-operator.ts'
import { ansibleRun, inventory, mounts, play, SSH_SECRET, secret } from './runs.ts'

const host = 'edpm-compute-0'
const namespace = 'openstack'
const cluster = useCluster({ crds: 'own-2023' })
const nodes = useNodes([host])
const stop = new AbortController()
const events: EventRecord[] = []
let folder = ''
let working: Promise<unknown> | undefined

beforeAll(async () => {
  const { client } = cluster
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': nodes.privateKey }))
  await client.create(secret(namespace, 'inventory', { inventory: inventory(nodes, [host]) }))
  const { metadata, ...node } = dataPlaneNode(host, { ansibleHost: nodes.node(host).address })
  await client.create({ ...node, metadata: { ...metadata, namespace } })
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom runs test-'))
  const record = (event: EventRecord): void => void events.push(event)
  working = operateRuns({ client, folder, enter: nodes.enter, record, hasNodes: true }, stop.signal)
}, 600_000)
afterAll(async () => {
  stop.abort()
  await working
  await rm(folder, { recursive: true, force: true })
})

async function run(name: string): Promise<AnsibleRunStatus> {
  const text = play([{ name: 'Touch', 'ansible.builtin.raw': `touch /srv/${name}` }])
  const spec = { play: text, extraMounts: mounts('inventory'), backoffLimit: 0 }
  await cluster.client.create(ansibleRun(namespace, name, spec))
  const status = async (): Promise<AnsibleRunStatus> =>
    ((await cluster.client.get({ ...ansibleRuns, namespace, name }))?.['status'] ?? {}) as AnsibleRunStatus
  const state = async (): Promise<string | undefined> => (await status()).JobStatus
  await expect.poll(state, { timeout: 180_000, interval: 200 }).toMatch(/Succeeded|Failed/)
  return status()
}

/** A private /tmp, and a /dev with the file of the termination message, whose content is printed. */
const AS_POD = `
set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
cp "$1" /mnt/identity
for device in null zero urandom; do touch /mnt/$device; mount --bind /dev/$device /mnt/$device; done
mount --rbind /mnt /dev
mount -t tmpfs none /tmp
shift
code=0
"$@" || code=$?
cat /dev/termination-log 2>/dev/null || true
exit $code`

/** The command of the Job that the operator would create, with ssh in place of Ansible. */
async function connectAsJob(
  key?: string,
): Promise<{ readonly exit: object; readonly stdout: string; readonly stderr: string }> {
  const address = nodes.node(host).address
  const words = ['$ANSIBLE_SSH_ARGS', '-o', 'ControlMaster=no', '-i', '/dev/identity', `root@${address}`, 'true']
  const args = ['sh', '-c', `ssh ${words.join(' ')}`]
  const jobRun = ansibleRun(namespace, 'job', { play: play([]), inventory: inventory(nodes, [host]), args })
  const hosts = new Map([[host, address]])
  const inputs = { found: new Map(), missing: [], hosts, ...(key !== undefined && { hostKeys: { [host]: [key] } }) }
  const job = buildJob({ run: jobRun, number: 1 }, inputs, { timeLimitMs: 60_000 })
  const { template } = job['spec'] as {
    template: { spec: { containers: [{ args: string[]; env: { name: string; value: string }[] }] } }
  }
  const [container] = template.spec.containers
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
  expect(env['ANSIBLE_HOST_KEY_CHECKING']).toBe('True')
  const identity = path.join(folder, 'identity')
  await writeFile(identity, nodes.privateKey, { mode: 0o600 })
  const command = [...nodes.enter, 'unshare', '--mount', 'sh', '-c', AS_POD, 'sh', identity, ...container.args]
  return runProcess({ ...toProgram(command), env: { ...env, PATH: process.env['PATH'] ?? '' } })
}

const reference = { ...dataPlaneNodes, namespace, name: host }
const recordedKeys = async (): Promise<readonly string[] | undefined> =>
  ((await cluster.client.get(reference)) as DataPlaneNode | undefined)?.status?.sshHostKeys

describe('the SSH host key of a node', () => {
  it('is recorded at the first run, and a changed one stops runs until the node names it', async () => {
    expect(await run('first')).toMatchObject({ JobStatus: 'Succeeded' })
    const recorded = await recordedKeys()
    expect(recorded).toEqual([expect.stringMatching(/^ssh-ed25519 AAAA/)])
    expect(await run('second')).toMatchObject({ JobStatus: 'Succeeded' })

    const changed = await nodes.node(host).changeHostKey()
    const refused = await run('third')
    expect(refused).toMatchObject({ JobStatus: 'Failed', result: { reason: 'Unreachable' } })
    expect(refused.conditions?.[0]?.message).toContain(`SL7556: ${host} has another SSH host key`)
    expect(refused.conditions?.[0]?.message).toContain(HOST_KEYS_ANNOTATION)
    expect(events.find(({ note }) => note.startsWith('SL7556'))?.note).toContain('ED25519 SHA256:')
    expect(await recordedKeys()).toEqual(recorded)

    const metadata = { annotations: { [HOST_KEYS_ANNOTATION]: `# from the console\n${host} ${changed}\n` } }
    await cluster.client.patch(reference, { metadata }, { type: 'merge' })
    await expect.poll(async () => (await run(`fourth-${Date.now()}`)).JobStatus, { timeout: 180_000 }).toBe('Succeeded')
  }, 600_000)

  it('is checked by the pod of a Job, too, which reports a new one', async () => {
    const current = await nodes.node(host).changeHostKey()
    await expect
      .poll(async () => succeeded((await connectAsJob(current)).exit as never), { timeout: 60_000 })
      .toBe(true)
    const { stdout } = await connectAsJob()
    expect(parseReportedKeys(stdout).hostKeys).toEqual({ [host]: [current.split(' ').slice(0, 2).join(' ')] })
    expect((await connectAsJob(current)).stdout).toBe('')
    const old = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUEyDdbmrK8aGBCjxVUE5vgzeQlXpNAJ5UjBv3uz'
    expect((await connectAsJob(old)).stderr).toContain('Host key verification failed')
    const ofAnotherType = 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA=='
    expect((await connectAsJob(ofAnotherType)).stderr).toContain('Host key verification failed')
  }, 300_000)
})
