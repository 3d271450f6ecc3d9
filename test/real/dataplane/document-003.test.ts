/**
 * Runs document 003's example end to end: two annotated nodes, two cells, the operator started by its command, and real
 * Ansible over SSH. Each node gets the transport URL of its cell on its disk.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { type NovaExternalCompute, novaCells, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { useCluster } from '../../cluster.ts'
import { CELL, dataPlaneNode, dataPlaneRole } from '../../data-plane.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'
import { type DataPlaneNodes, useNodes } from './nodes.ts'
import { SSH_SECRET, secret } from './runs.ts'

const cells = { 'edpm-compute-0': 'nova-cell1', 'edpm-compute-1': 'nova-cell2' } as const
const names = Object.keys(cells) as readonly (keyof typeof cells)[]
const cluster = useCluster({ crds: 'own-2023' })
const nodes = useNodes(names)
const namespace = 'openstack'
let operator: RunningOperator | undefined
let folder = ''
const { PATH = '' } = process.env

beforeAll(async () => {
  const { client } = cluster
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-003-'))
  process.env['PATH'] = `${await confined(nodes)}:${PATH}`
  operator = await startOperator(cluster, {
    parts: ['dataplane'],
    runs: 'local',
    leaderElection: true,
    runTimeLimit: 600_000,
    env: { XDG_STATE_HOME: folder },
  })
}, 600_000)
afterAll(async () => {
  process.env['PATH'] = PATH
  await operator?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** A PATH folder with an Ansible that can reach only the nodes of this test. */
async function confined({ enter }: DataPlaneNodes): Promise<string> {
  for (const program of ['ansible-runner', 'ansible-playbook']) {
    const script = `#!/bin/sh\nexport PATH='${PATH}'\nexec ${enter.join(' ')} ${program} "$@"\n`
    await writeFile(path.join(folder, program), script, { mode: 0o755 })
  }
  return folder
}

/** The conductor pod for host discovery, marked as simulated: nothing runs in pods here. */
async function makeConductor(): Promise<void> {
  await cluster.client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'nova-cell0-conductor-0',
      namespace,
      annotations: { 'sandbox.stackloom.dev/played': 'true' },
    },
    spec: { containers: [{ name: 'conductor', image: 'played' }] },
  })
}

async function makeCell(name: string): Promise<void> {
  const { client } = cluster
  const url = `rabbit://user:secret-of-${name}@${name}.example:5671/?ssl=1`
  await client.create(secret(namespace, `${name}-bus`, { transport_url: url }))
  await client.create(secret(namespace, `${name}-secret`, { ServicePassword: `password-of-${name}` }))
  const made = await client.create({
    ...novaCells,
    metadata: { name, namespace },
    spec: {
      cellName: name.slice('nova-'.length),
      cellDatabaseHostname: 'db',
      cellMessageBusSecretName: `${name}-bus`,
      conductorServiceTemplate: {},
      noVNCProxyServiceTemplate: {},
      keystoneAuthURL: 'https://keystone.example:5000',
      secret: `${name}-secret`,
      serviceAccount: 'nova',
    },
  })
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await client.update({ ...made, status: { conditions } }, { subresource: 'status' })
}

/** Replaces the OpenStack services: sleeps forever. The nodes have no repository of packages. */
const standIns = `
ansible_user: root
stackloom_packages: []
ansible_pipelining: true
stackloom_nova_command: [sleep, infinity]
stackloom_libvirt_command: [sleep, infinity]
`

describe("document 003's example with real Ansible", () => {
  it('deploys the files of each cell to its node, libvirt before nova, each once', async () => {
    const { client } = cluster
    await client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': nodes.privateKey }))
    for (const cell of Object.values(cells)) await makeCell(cell)
    await makeConductor()
    const nodeTemplate = { ansiblePort: 22, ansibleVars: standIns }
    const role = {
      nodeTemplate,
      deployStrategy: { deploy: true },
      services: ['install-os'],
      preProvisioned: true,
    }
    const create = (object: KubeObject): Promise<KubeObject> => client.create(object, { fieldManager: 'person' })
    await create(dataPlaneRole('edpm-compute', role, { [CELL]: 'nova-cell1' }))
    for (const name of names) {
      const node = { ansibleSSHPrivateKeySecret: SSH_SECRET }
      const spec = { ansibleHost: nodes.node(name).address, hostName: name, role: 'edpm-compute', node }
      await create(dataPlaneNode(name, spec, cells[name] === 'nova-cell1' ? {} : { [CELL]: cells[name] }))
    }
    for (const name of names) {
      const ready = async (): Promise<string | undefined> => {
        const compute = (await client.get({ ...novaExternalComputes, namespace, name })) as
          | NovaExternalCompute
          | undefined
        return compute?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
      }
      await expect.poll(ready, { timeout: 500_000, interval: 500 }).toBe('True')
      const conf = await readFile(
        path.join(nodes.node(name).root, 'var/lib/openstack/config/nova/01-nova.conf'),
        'utf8',
      )
      const cell = cells[name]
      expect(conf).toContain(`transport_url = rabbit://user:secret-of-${cell}@${cell}.example:5671/?ssl=1\n`)
      expect(conf).toContain(`password = password-of-${cell}\n`)
      const { stdout } = await nodes.node(name).run('systemctl', 'is-active', 'stackloom-libvirt', 'stackloom-nova')
      expect(stdout).toBe('active\nactive\n')
    }
    const { items } = await client.list(ansibleRuns, { namespace })
    const runs = items as unknown as readonly AnsibleRun[]
    expect(runs.map(({ status }) => status?.result?.reason)).toEqual(runs.map(() => 'Completed'))
    // Whether the nodes share a run depends on timing; that each has it once does not.
    const steps = runs.flatMap(({ metadata, status }) =>
      Object.keys(status?.result?.hosts ?? {}).map((host) => `${metadata.annotations?.['stackloom.dev/step']} ${host}`),
    )
    expect(steps.toSorted()).toEqual(
      ['install-os', 'libvirt', 'nova'].flatMap((step) => names.map((name) => `${step} ${name}`)),
    )
  }, 900_000)
})
