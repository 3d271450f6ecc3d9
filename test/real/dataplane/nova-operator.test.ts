/**
 * Compares configuration files and conditions of a compute node with those of nova-operator 0.1.1, which deployed compute
 * nodes in 2023, for the same cell. Each side has the API server with its own CRDs. Every difference has its reason here.
 */
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { type NovaExternalCompute, novaCells, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { type RunningProcess, runProcess, startProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'
import { useCluster } from '../../cluster.ts'
import { isSoak, SOAK_ONLY } from '../../counts.ts'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { effectiveConfig } from '../../effective-config.ts'
import { startControllers } from './controllers.ts'
import { differingOptions, namedOptions } from './nova-differences.ts'
import { type Play, recordingExecutor } from './recording-executor.ts'

const clusters = { theirs: useCluster({ crds: '2023' }), ours: useCluster({ crds: 'own-2023', second: true }) }
const namespace = 'openstack'
const HOST = 'edpm-compute-0'
const soon = { timeout: 120_000, interval: 200 }
const secrets = { apiVersion: 'v1', kind: 'Secret' }
const CUSTOM = '[DEFAULT]\nreserved_host_memory_mb = 777\n'

type Side = keyof typeof clusters
/** What happens to the compute node, in this order. */
const points = ['without its cell', 'while it is deployed', 'when it is deployed'] as const
type Point = (typeof points)[number]

interface Seen {
  readonly conditions: Map<Point, readonly string[]>
  readonly files: Map<string, string>
}

const seen: Readonly<Record<Side, Seen>> = {
  theirs: { conditions: new Map(), files: new Map() },
  ours: { conditions: new Map(), files: new Map() },
}
const refusal = { text: undefined as string | undefined }
/** What upstream's operator says. */
const output: string[] = []

/** Conditions with another status: upstream's stay Unknown until their work is done, those here say what it waits for. */
const namedConditions: Readonly<Record<Point, Readonly<Record<string, string>>>> = {
  'without its cell': {
    DeploymentReady: 'it waits for the cell',
    InputReady: 'SSH key and inventory are there; upstream adds the Secret of the cell to them',
  },
  'while it is deployed': { DeploymentReady: 'runs are active', Ready: 'it has the reason of DeploymentReady' },
  'when it is deployed': {},
}

/** Files of the Secret that only one side has. */
const namedFiles: Readonly<Record<string, string>> = {
  'firewall.yaml': 'rules for the role edpm_nftables, which is no part of Stackloom',
  'libvirt_*': 'one container for each daemon of libvirt, in the form of kolla; here one unit runs virtqemud',
  'novacompute__*': 'in the form of kolla, whose scripts start the container; here Quadlets do',
  'virtqemud.conf': 'libvirt_virtqemud__virtqemud.conf of upstream, but for its log, which is the journal',
}

/** Further options: the operator reads no Route, so that consoles are enabled by customServiceConfig. */
const withoutConsole = ['vnc.enabled', 'vnc.novncproxy_base_url', 'vnc.server_listen']

beforeAll(async () => {
  if (!isSoak()) {
    refusal.text = SOAK_ONLY
    return
  }
  const program = await findTestProgram('nova-operator')
  if (program === undefined) {
    refusal.text = 'nova-operator is not built, which takes minutes; `make soak SUITE="data plane"` builds it'
    return
  }
  await observeTheirs(program)
  await observeOurs()
}, 900_000)

beforeEach((context) => {
  if (refusal.text !== undefined) context.skip(refusal.text)
})

function create(client: KubeClient, object: KubeObject): Promise<KubeObject> {
  return client.create({ ...object, metadata: { ...object.metadata, namespace } }, { fieldManager: 'person' })
}

const secret = (name: string, stringData: Readonly<Record<string, string>>): KubeObject => ({
  ...secrets,
  metadata: { name },
  stringData,
})

async function createInputs(client: KubeClient): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await create(client, secret(SSH_SECRET, { 'ssh-privatekey': 'key' }))
  await create(client, secret('cell1-bus', { transport_url: 'rabbit://user:password@rabbitmq-cell1:5672/' }))
  await create(client, secret('nova-secret', { ServicePassword: 'S3cret' }))
}

async function createCell(client: KubeClient): Promise<void> {
  const spec = {
    cellName: 'cell1',
    cellDatabaseHostname: 'db',
    cellMessageBusSecretName: 'cell1-bus',
    conductorServiceTemplate: {},
    noVNCProxyServiceTemplate: {},
    keystoneAuthURL: 'http://keystone-internal:5000',
    secret: 'nova-secret',
    serviceUser: 'nova',
    serviceAccount: 'nova',
  }
  const cell = await create(client, { ...novaCells, metadata: { name: 'nova-cell1' }, spec })
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await client.update({ ...cell, status: { conditions } }, { subresource: 'status' })
}

/** Keeps the conditions when the named one has the status and none changes any more. */
async function keepConditions(side: Side, point: Point, type: string, status: string): Promise<void> {
  const { client } = clusters[side]
  let before = ''
  let unchanged = 0
  const found = await vi.waitFor(async () => {
    const compute = (await client.get({ ...novaExternalComputes, namespace, name: HOST })) as NovaExternalCompute
    const conditions = compute?.status?.conditions ?? []
    const text = JSON.stringify(conditions)
    unchanged = text === before ? unchanged + 1 : 0
    before = text
    const isReached = conditions.find((condition) => condition.type === type)?.status === status
    if (!isReached || unchanged < SETTLED) throw new Error(`${side} ${point}: ${text} ${output.at(-1)}`)
    return conditions
  }, soon)
  // Messages name objects, which have other names.
  const text = ({ type, status, reason }: Condition): string => [type, status, reason].join(' ')
  seen[side].conditions.set(point, found.map(text).toSorted())
}

/** How often equal conditions are read before they count as final: two seconds. */
const SETTLED = 10

async function keepFiles(side: Side): Promise<void> {
  const { client } = clusters[side]
  const data = await vi.waitFor(async () => {
    const found = await client.get({ ...secrets, namespace, name: `${HOST}-config-data` })
    if (!found) throw new Error(`${side}: no configuration; ${output.at(-1)}`)
    return found['data'] as Readonly<Record<string, string>>
  }, soon)
  for (const [name, text] of Object.entries(data)) seen[side].files.set(name, Buffer.from(text, 'base64').toString())
}

async function observeTheirs(file: string): Promise<void> {
  const { client, inside, insideKubeconfig } = clusters.theirs
  await createInputs(client)
  const data = { inventory: `all: {hosts: {${HOST}: {}}}` }
  await create(client, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inventory' }, data })
  const route = {
    apiVersion: 'route.openshift.io/v1',
    kind: 'Route',
    metadata: { name: 'nova-novncproxy-cell1-public' },
  }
  await create(client, { ...route, spec: { host: 'vnc.example.org', to: { kind: 'Service', name: 'vnc' } } })
  const stop = await startTheirs(file, inside, insideKubeconfig)
  try {
    const spec = { inventoryConfigMapName: 'inventory', sshKeySecretName: SSH_SECRET, customServiceConfig: CUSTOM }
    await create(client, { ...novaExternalComputes, metadata: { name: HOST }, spec })
    await keepConditions('theirs', 'without its cell', 'NovaCellReady', 'False')
    await createCell(client)
    await keepConditions('theirs', 'while it is deployed', 'ServiceConfigReady', 'True')
    await keepFiles('theirs')
    await endRuns(client)
    await keepConditions('theirs', 'when it is deployed', 'Ready', 'True')
  } finally {
    await stop()
  }
}

async function startTheirs(file: string, inside: readonly string[], KUBECONFIG: string): Promise<() => Promise<void>> {
  const module = 'github.com/openstack-k8s-operators/nova-operator'
  const cwd = path.join(import.meta.dirname, '../../../sandbox/nova-operator')
  const { exit, stdout, stderr } = await runProcess({ file: 'go', args: ['mod', 'download', '-json', module], cwd })
  if (!succeeded(exit)) throw new Error(stderr)
  const { Dir: folder } = JSON.parse(stdout) as { readonly Dir: string }
  const files = { OPERATOR_TEMPLATES: `${folder}/templates/`, OPERATOR_PLAYBOOKS: `${folder}/playbooks` }
  const words = ['setpriv', '--pdeathsig', 'KILL', '--', ...inside, file]
  const program = { ...toProgram(words), env: { ...process.env, KUBECONFIG, ...files } }
  const child: RunningProcess = startProcess(program, { onLine: (line) => output.push(line) })
  return async () => {
    child.kill('SIGKILL')
    await child.exit
  }
}

/** Ends the runs of both steps as upstream's executor does. */
async function endRuns(client: KubeClient): Promise<void> {
  const runs = await vi.waitFor(async () => {
    const { items } = await client.list(ansibleRuns, { namespace })
    if (items.length < 2) throw new Error(`${items.length} runs: ${output.at(-1)}`)
    return items as unknown as readonly AnsibleRun[]
  }, soon)
  for (const run of runs) {
    await client.update({ ...run, status: { JobStatus: 'Succeeded' } } as KubeObject, { subresource: 'status' })
  }
}

async function observeOurs(): Promise<void> {
  const { client } = clusters.ours
  await createInputs(client)
  let play: Play = () => undefined
  const controllers = startControllers(client)
  const executor = recordingExecutor(client, (run) => play(run))
  try {
    const spec = { cellName: 'nova-cell1', dataplaneNodeName: HOST, customServiceConfig: CUSTOM }
    await create(client, { ...novaExternalComputes, metadata: { name: HOST }, spec })
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    const role = { nodeTemplate, deployStrategy: { deploy: true }, services: [] }
    await create(client, dataPlaneRole('edpm-compute', role, { [CELL]: 'nova-cell1' }))
    await create(client, dataPlaneNode(HOST, { role: 'edpm-compute', ansibleHost: '192.168.122.100' }))
    await keepConditions('ours', 'without its cell', 'NovaCellReady', 'False')
    await createCell(client)
    await keepConditions('ours', 'while it is deployed', 'ServiceConfigReady', 'True')
    await keepFiles('ours')
    play = () => ({})
    const { items } = await client.list(ansibleRuns, { namespace })
    for (const { metadata } of items) {
      const change = { metadata: { labels: { look: 'again' } } }
      await client.patch({ ...ansibleRuns, namespace, name: metadata.name }, change, {
        type: 'merge',
        fieldManager: 'person',
      })
    }
    await keepConditions('ours', 'when it is deployed', 'Ready', 'True')
  } finally {
    await controllers.stop()
    await executor.stop()
  }
}

/** The settings of a file of libvirt. */
function readSettings(text = ''): readonly string[] {
  const lines = text.split('\n').filter((line) => /^\w/.test(line) && !line.startsWith('log_'))
  return lines.map((line) => line.replaceAll(' ', '')).toSorted()
}

describe('a compute node', () => {
  it.each(points)('has the conditions of upstream %s, but for the named ones', (point) => {
    const [theirs = [], ours = []] = [seen.theirs.conditions.get(point), seen.ours.conditions.get(point)]
    const typeOf = (text: string): string => text.split(' ')[0] ?? ''
    expect(ours.map(typeOf)).toEqual(theirs.map(typeOf))
    const differing = ours.filter((text) => !theirs.includes(text)).map(typeOf)
    expect(differing).toEqual(Object.keys(namedConditions[point]))
  })

  it('has the files of upstream in the same Secret, but for the named ones', () => {
    const isNamed = (name: string): boolean =>
      Object.keys(namedFiles).some((known) =>
        known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known,
      )
    const [theirs, ours] = [seen.theirs.files, seen.ours.files]
    const names = [...new Set([...theirs.keys(), ...ours.keys()])].filter((name) => !isNamed(name))
    expect(names.toSorted()).toEqual(['01-nova.conf', '02-nova-override.conf', 'nova-blank.conf'])
    expect(ours.get('02-nova-override.conf')).toBe(theirs.get('02-nova-override.conf'))
    expect(ours.get('nova-blank.conf')?.trim()).toBe(theirs.get('nova-blank.conf')?.trim())
    const settings = readSettings(theirs.get('libvirt_virtqemud__virtqemud.conf'))
    expect(readSettings(ours.get('virtqemud.conf'))).toEqual(settings)
  })

  it('has the options of upstream, but for the named ones', () => {
    const options = (side: Side) => effectiveConfig({ kind: 'files', files: Object.fromEntries(seen[side].files) })
    const known = [...Object.keys(namedOptions), ...withoutConsole]
    expect(differingOptions(options('theirs'), options('ours'))).toEqual([...new Set(known)].toSorted())
  })
})
