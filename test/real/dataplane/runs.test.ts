/**
 * Tests runs on a real API server with real Ansible over real SSH: what the playbooks do, and how runs fail.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnsibleRun, type AnsibleRunSpec, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { TEMPLATE_PATH } from '../../../src/dataplane/nodes/inventory.ts'
import { DECOMMISSION_PLAYBOOK, phase0Playbooks, readPlaybook } from '../../../src/dataplane/runs/playbooks.ts'
import { nodeServices } from '../../../src/dataplane/service-definitions/all.ts'
import { renderComputeConfig } from '../../../src/dataplane/service-definitions/nova-config.ts'
import { renderMetadataConfig } from '../../../src/dataplane/service-definitions/ovn-metadata-config.ts'
import { runProcess, toProgram } from '../../../src/exec/process.ts'
import type { EventRecord } from '../../../src/kube/event-recorder.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { useNodes } from './nodes.ts'
import { operateRuns } from './run-operator.ts'
import { ansibleRun, inventory, mounts, play, SSH_SECRET, secret, serveRuns } from './runs.ts'

const both = ['edpm-compute-0', 'edpm-compute-1'] as const
const cluster = useCluster()
const nodes = useNodes(both)
const namespace = 'openstack'
const stop = new AbortController()
const events: EventRecord[] = []
let folder = ''
let working: Promise<unknown> | undefined

/** Replaces the OpenStack services: sleeps forever. The nodes have no repository of packages. */
const standIns = {
  stackloom_packages: [],
  stackloom_libvirt_command: ['sleep', 'infinity'],
  stackloom_nova_command: ['sleep', 'infinity'],
  stackloom_ovn_metadata_command: ['sleep', 'infinity'],
}
/** The playbooks of all services, in order. */
const servicePlaybooks = nodeServices.flatMap(({ steps }) => steps.map(({ playbook }) => playbook))
/** Variables of the optional parts of phase 0. */
const furnished = {
  edpm_network_config_template: TEMPLATE_PATH,
  stackloom_network_apply: ['touch', '/srv/network-applied'],
  stackloom_timezone: 'UTC',
}

beforeAll(async () => {
  const { client } = cluster
  await serveRuns(client, namespace)
  await client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': nodes.privateKey }))
  await client.create(secret(namespace, 'dataplanerole-edpm-compute', { inventory: inventory(nodes, both) }))
  for (const name of both) {
    const text = inventory(nodes, [name], standIns)
    await client.create(secret(namespace, `dataplanenode-${name}`, { inventory: text }))
  }
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-runs-test-'))
  working = operateRuns(
    {
      client,
      folder,
      enter: nodes.enter,
      record: (event) => void events.push(event),
      settings: { timeLimitMs: 500_000 },
    },
    stop.signal,
  )
}, 600_000)
afterAll(async () => {
  stop.abort()
  await working
  await rm(folder, { recursive: true, force: true })
})

const refOf = (name: string) => ({ ...ansibleRuns, namespace, name })
const get = async (name: string): Promise<AnsibleRun | undefined> =>
  (await cluster.client.get(refOf(name))) as AnsibleRun | undefined
const create = (name: string, spec: AnsibleRunSpec): Promise<unknown> =>
  cluster.client.create(ansibleRun(namespace, name, { backoffLimit: 0, ...spec }))

async function ended(name: string): Promise<AnsibleRun['status']> {
  const status = async (): Promise<string | undefined> => (await get(name))?.status?.JobStatus
  await expect.poll(status, { timeout: 400_000, interval: 300 }).toMatch(/Succeeded|Failed/)
  return (await get(name))?.status
}

const onNode = (name: string, file: string): Promise<string> => readFile(path.join(nodes.node(name).root, file), 'utf8')

/** Persistent SSH connections to the nodes, by their process titles. */
async function keptOpen(): Promise<readonly string[]> {
  const script =
    'for one in /proc/[0-9]*; do [ $one/ns/net -ef /proc/self/ns/net ] && tr "\\0" " " < $one/cmdline && echo; done'
  const { stdout } = await runProcess(toProgram([...nodes.enter, 'sh', '-c', script]))
  return stdout.split('\n').filter((title) => title.startsWith('ssh: '))
}

describe('the playbooks', () => {
  it('deploy the files of a node byte for byte, and change nothing the second time', async () => {
    const name = 'edpm-compute-0'
    // Each task takes a second or more: all of them are tried in `make soak`.
    const few = ['install-os', 'ovn-metadata'] as const
    const whole = count({ test: 0, soak: 1 }) === 1
    const all = whole ? ([...phase0Playbooks, ...servicePlaybooks] as const) : few
    await cluster.client.create(
      secret(namespace, 'furnished', {
        inventory: inventory(nodes, [name], { ...standIns, ...furnished }),
        'nic-config-template': 'address: {{ ctlplane_ip }}\n',
      }),
    )
    const template = {
      volumes: [{ name: 'template', secret: { secretName: 'furnished' } }],
      mounts: [{ name: 'template', mountPath: TEMPLATE_PATH, subPath: path.basename(TEMPLATE_PATH) }],
    }
    const textOf = async (names: readonly string[]): Promise<string> =>
      (await Promise.all(names.map((name) => readPlaybook(name)))).join('\n')
    const spec = {
      play: await textOf(all),
      env: [{ name: 'ANSIBLE_PIPELINING', value: 'True' }],
      extraMounts: [...mounts('furnished', 'config-data'), template],
    }
    const compute = {
      transportUrl: 'rabbit://nova:pa$$@rabbitmq-cell1.openstack.svc:5671/?ssl=1',
      keystoneAuthUrl: 'https://keystone.openstack.svc:5000',
      serviceUser: 'nova',
      servicePassword: 'S3cr$et',
      host: name,
    }
    const agent = {
      ovnSbConnection: 'ssl:ovsdbserver-sb.openstack.svc:6642',
      host: name,
      novaMetadataHost: 'nova-metadata.openstack.svc',
      sharedSecret: 'shared',
    }
    const files: Readonly<Record<string, string>> = {
      ...filesOf(renderComputeConfig(compute, '[libvirt]\n# mine\ncpu_mode=host-passthrough\n')),
      ...filesOf(renderMetadataConfig(agent, '[DEFAULT]\ndebug = True\n')),
    }
    await cluster.client.create(secret(namespace, 'config-data', files))
    await create('first', spec)
    expect((await ended('first'))?.result).toMatchObject({ reason: 'Completed' })
    const brought = [
      ['nova', '01-nova.conf'],
      ['nova', '02-nova-override.conf'],
      ['libvirt', 'virtqemud.conf'],
      ['ovn-metadata', '01-neutron-metadata.conf'],
      ['ovn-metadata', '02-neutron-metadata-override.conf'],
    ] as const
    for (const [folderName, file] of brought.filter(([one]) => all.some((ran) => ran === one))) {
      expect(await onNode(name, `/var/lib/openstack/config/${folderName}/${file}`)).toBe(files[file])
    }
    await create('again', { ...spec, play: await textOf(whole ? all : ['ovn-metadata']) })
    expect((await ended('again'))?.result).toMatchObject({
      reason: 'Completed',
      hosts: { [name]: { changed: 0, failures: 0, unreachable: 0 } },
    })
    if (whole) {
      const { address } = nodes.node(name)
      expect(await onNode(name, '/etc/os-net-config/config.yaml')).toBe(`address: ${address}\n`)
    }
    const unit = 'stackloom-ovn-metadata.service'
    const onHost = async (...words: readonly string[]): Promise<string> =>
      (await nodes.node(name).run(...words)).stdout.trim()
    const mainPid = (): Promise<string> => onHost('systemctl', 'show', '--property', 'MainPID', '--value', unit)
    const isActive = (): Promise<string> => onHost('systemctl', 'is-active', unit)
    const soon = { timeout: 60_000, interval: 500 }
    const before = await mainPid()
    await onHost('kill', '-9', before)
    await expect.poll(mainPid, soon).not.toMatch(new RegExp(`^(0|${before})$`))
    await expect.poll(isActive, soon).toBe('active')
    await nodes.node(name).losePower()
    await nodes.node(name).powerOn()
    await expect.poll(isActive, soon).toBe('active')
    expect(await onHost('journalctl', '--unit', unit, '--output', 'cat', '--no-pager')).toContain('Started')
    const services = whole ? servicePlaybooks.toReversed() : ['ovn-metadata']
    const leaving = {
      ...spec,
      play: await readPlaybook(DECOMMISSION_PLAYBOOK),
      extraVars: { stackloom_services: services },
    }
    await create('leaves', leaving)
    expect((await ended('leaves'))?.result).toMatchObject({
      reason: 'Completed',
      hosts: { [name]: { changed: 2, failures: 0 } },
    })
    expect(await onHost('systemctl', 'show', '--property', 'LoadState', '--value', unit)).toBe('not-found')
    expect(await onHost('sh', '-c', 'ls -d /etc/systemd/system/*/stackloom-* /etc/systemd/system/stackloom-*')).toBe('')
    await expect(onNode(name, '/var/lib/openstack/config/ovn-metadata/01-neutron-metadata.conf')).rejects.toThrow()
    if (!whole) return
    await create('left', leaving)
    expect((await ended('left'))?.result).toMatchObject({
      reason: 'Completed',
      hosts: { [name]: { changed: 0, failures: 0 } },
    })
  }, 900_000)
})

describe('A run', () => {
  const quick = { play: play([{ name: 'Say', 'ansible.builtin.raw': 'true' }]) }

  it('that a person creates waits for its inputs, runs, and is cleaned up', async () => {
    await cluster.client.create(ansibleRun(namespace, 'by-hand', { ...quick, extraMounts: mounts('later') }))
    const message = async (): Promise<string | undefined> => (await get('by-hand'))?.status?.conditions?.[0]?.message
    await expect.poll(message, { timeout: 60_000 }).toContain('Secret later or ConfigMap later')
    const text = inventory(nodes, ['edpm-compute-0'])
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'later', namespace },
      data: { inventory: text },
    })
    expect(await ended('by-hand')).toMatchObject({
      JobStatus: 'Succeeded',
      tries: 1,
      conditions: [{ type: 'Ready', status: 'True' }, { type: 'AnsibleExecutionJobReady' }],
      result: { reason: 'Completed', hosts: { 'edpm-compute-0': { ok: 1, failures: 0 } } },
    })
    const finalizers = async (): Promise<number> => (await get('by-hand'))?.metadata.finalizers?.length ?? 0
    await expect.poll(finalizers, { timeout: 30_000 }).toBe(0)
  }, 200_000)

  it('on an unreachable host is Unreachable, and the other host is done', async () => {
    await nodes.node('edpm-compute-1').link('down')
    try {
      const env = [{ name: 'ANSIBLE_TIMEOUT', value: '2' }]
      await create('dark', { ...quick, env, extraMounts: mounts('dataplanerole-edpm-compute') })
      expect(await ended('dark')).toMatchObject({
        JobStatus: 'Failed',
        result: {
          reason: 'Unreachable',
          message: expect.stringContaining('edpm-compute-1'),
          hosts: { 'edpm-compute-0': { ok: 1 }, 'edpm-compute-1': { unreachable: 1 } },
        },
      })
    } finally {
      await nodes.node('edpm-compute-1').link('up')
    }
  }, 200_000)

  it('whose task fails is retried as often as allowed, reports it, and shows no secret', async () => {
    const fail = {
      name: 'Refuse',
      'ansible.builtin.fail': { msg: 'the password is {{ lookup("env", "PASSWORD") }}' },
    }
    await cluster.client.create(secret(namespace, 'password', { password: 'correct-horse' }))
    await create('refused', {
      play: play([fail]),
      backoffLimit: 1,
      env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'password', key: 'password' } } }],
      extraMounts: mounts('dataplanenode-edpm-compute-0'),
    })
    expect(await ended('refused')).toMatchObject({
      JobStatus: 'Failed',
      tries: 2,
      conditions: [{ reason: 'BackoffLimitExceeded' }, {}],
      result: { reason: 'Failed', message: 'edpm-compute-0: Refuse: the password is ******' },
    })
    const notes = events.filter(({ regarding }) => regarding.metadata.name === 'refused')
    expect(notes.map(({ reason }) => reason)).toContain('Failed')
    expect(JSON.stringify([notes.map(({ note }) => note), await get('refused')])).not.toContain('correct-horse')
  }, 200_000)

  it('with an SSH Secret without the key touches no host, and names the missing key', async () => {
    await cluster.client.create(secret(namespace, 'keyless', { other: 'x' }))
    const [mount] = mounts('dataplanenode-edpm-compute-0')
    const volumes = (mount?.volumes ?? []).map((volume) =>
      volume.name === 'ssh-key'
        ? {
            name: 'ssh-key',
            secret: { secretName: 'keyless', items: [{ key: 'ssh-privatekey', path: 'ssh_key' }] },
          }
        : volume,
    )
    await create('keyless', { ...quick, extraMounts: [{ volumes, mounts: mount?.mounts ?? [] }] })
    expect(await ended('keyless')).toMatchObject({
      JobStatus: 'Failed',
      result: {
        reason: 'NotStarted',
        message: expect.stringContaining('Secret keyless has no key ssh-privatekey'),
      },
    })
  }, 60_000)

  it('that is deleted is stopped on its host first, and the next run waits for that', async () => {
    const hang = 'echo $$ > /srv/hangs; while :; do sleep 0.2; done'
    const hangs = { play: play([{ name: 'Hang', 'ansible.builtin.shell': hang }]) }
    const extraMounts = mounts('dataplanenode-edpm-compute-0')
    await create('hangs', { ...hangs, extraMounts })
    // Its process counts: what a shell does on TERM depends on the moment.
    const there = async (): Promise<boolean> => {
      const pid = await onNode('edpm-compute-0', '/srv/hangs').catch(() => '')
      if (pid.trim() === '') return false
      return onNode('edpm-compute-0', `/proc/${pid.trim()}/stat`).then(
        () => true,
        () => false,
      )
    }
    await expect.poll(there, { timeout: 120_000 }).toBe(true)
    await create('next', { ...quick, extraMounts })
    const waits = async (): Promise<string | undefined> => (await get('next'))?.status?.conditions?.[0]?.message
    await expect.poll(waits, { timeout: 60_000 }).toBe('Waiting: hangs works on the same hosts')
    await cluster.client.delete(refOf('hangs'))
    await expect.poll(() => get('hangs'), { timeout: 60_000 }).toBeUndefined()
    await expect.poll(there, { timeout: 60_000 }).toBe(false)
    // The persistent connection has no further task to wait for.
    expect(await keptOpen()).toEqual([])
    expect(await ended('next')).toMatchObject({ JobStatus: 'Succeeded' })
  }, 300_000)
})

function filesOf(made: ReturnType<typeof renderComputeConfig>): Readonly<Record<string, string>> {
  if (made.kind === 'refused') throw new Error(made.findings.map(({ message }) => message).join())
  return made.files
}
