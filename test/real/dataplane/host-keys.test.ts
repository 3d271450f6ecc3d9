/** Tests that runs check SSH host keys: real Ansible over real SSH to a node whose key changes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildJob } from '../../../src/dataplane/execution/jobs/build-job.ts'
import { splitShellWords } from '../../../src/dataplane/execution/local/ansible-command.ts'
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

/** The environment of the Job that the operator would create, in a real ssh. */
async function connectAsJob(key: string): Promise<{ readonly exit: object; readonly stderr: string }> {
  const jobRun = ansibleRun(namespace, 'job', { play: play([]), inventory: inventory(nodes, [host]) })
  const inputs = { found: new Map(), missing: [], hostKeys: { [host]: [key] } }
  const job = buildJob({ run: jobRun, number: 1 }, inputs, { timeLimitMs: 60_000 })
  const { template } = job['spec'] as {
    template: { spec: { containers: [{ env: { name: string; value: string }[] }] } }
  }
  const env = Object.fromEntries(template.spec.containers[0].env.map(({ name, value }) => [name, value]))
  expect(env['ANSIBLE_HOST_KEY_CHECKING']).toBe('True')
  const identity = path.join(folder, 'identity')
  await writeFile(identity, nodes.privateKey, { mode: 0o600 })
  const options = [...splitShellWords(env['ANSIBLE_SSH_ARGS'] ?? ''), '-o', 'ControlMaster=no', '-i', identity]
  const command = [...nodes.enter, 'ssh', ...options, `root@${nodes.node(host).address}`, 'true']
  return runProcess({ ...toProgram(command), env })
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

  it('is checked by the pod of a Job, too', async () => {
    const current = await nodes.node(host).changeHostKey()
    await expect
      .poll(async () => succeeded((await connectAsJob(current)).exit as never), { timeout: 60_000 })
      .toBe(true)
    const old = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUEyDdbmrK8aGBCjxVUE5vgzeQlXpNAJ5UjBv3uz'
    expect((await connectAsJob(old)).stderr).toContain('Host key verification failed')
    const ofAnotherType = 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA=='
    expect((await connectAsJob(ofAnotherType)).stderr).toContain('Host key verification failed')
  }, 300_000)
})
