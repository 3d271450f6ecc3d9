/**
 * Stores objects with an expression in each text field, one at a time, on a real API server without webhooks, and lets
 * real Ansible read what the controllers made of them.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KindDefinition, renderCrd } from '../../../src/api/crd.ts'
import { dnsDataKind } from '../../../src/api/dnsdata.ts'
import { reservationKind } from '../../../src/api/ipset.ts'
import { netConfigKind } from '../../../src/api/netconfig.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { mapConcurrently } from '../../../src/async/map-concurrently.ts'
import { formatExtraVars } from '../../../src/dataplane/execution/run-files.ts'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import {
  type DataPlaneNode,
  dataPlaneKind,
  dataPlaneNodes,
  dataPlaneServiceKind,
} from '../../../src/dataplane/kinds/data-plane.ts'
import { Failure } from '../../../src/errors/failure.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { useCluster } from '../../cluster.ts'
import { SSH_SECRET } from '../../data-plane.ts'
import { useFolder } from '../../folder.ts'
import { launchOperator, type RunningOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })
const folder = useFolder()
const marker = path.join(folder, 'evaluated')
let operator: RunningOperator | undefined

beforeAll(async () => {
  operator = await launchOperator(cluster, { noWebhooks: true })
}, 120_000)
afterAll(() => operator?.stop())

interface Schema {
  readonly type?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
}

type Path = readonly (string | number)[]

/** What a person writes for Ansible. */
const CODE = new Set(['ansibleVars', 'template', 'play', 'role'])

/** The text fields below a schema; the API server refuses other texts where there is a pattern. */
function textFields(schema: Schema, at: Path, keys: readonly string[]): readonly Path[] {
  const name = String(at.at(-1) ?? '')
  if (CODE.has(name) && at.length > 1 && !keys.includes(name)) return []
  if (schema.type === 'string') return schema.pattern || schema.enum ? [] : [at]
  if (schema.items) return textFields(schema.items, [...at, 0], keys)
  if (schema.additionalProperties) {
    const key = at.length === 2 && (name === 'nodes' || name === 'roles') ? name.slice(0, -1) : 'net0'
    return textFields(schema.additionalProperties, [...at, key], keys)
  }
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => textFields(field, [...at, key], keys))
}

function fieldsOf(kind: KindDefinition): readonly Path[] {
  const { versions } = renderCrd(kind)['spec'] as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
  // `role` of a node is its name; that of a service is code.
  const keys = kind === dataPlaneKind ? ['role'] : []
  return textFields(versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {}, ['spec'], keys)
}

/** A copy with the value at the path; missing parents are created. */
function withValue(target: unknown, [head, ...rest]: Path, value: unknown): unknown {
  if (head === undefined) return value
  const copy = Array.isArray(target) ? [...target] : typeof head === 'number' ? [] : { ...(target as object) }
  const fields = copy as Record<string | number, unknown>
  fields[head] = withValue(fields[head], rest, value)
  return copy
}

/** Leaves a line with the name of the field when Ansible evaluates it. */
const expression = (field: string): string => `{{ lookup('pipe', 'echo ${field} >> ${marker}') }}`

/** A valid cloud of one node; everything that the hostile object may reach has names of its own. */
function cloud(index: number): ReadonlyMap<KindDefinition, KubeObject> {
  const namespace = `ns-${index}`
  const build = (kind: KindDefinition, name: string, spec: object): readonly [KindDefinition, KubeObject] => [
    kind,
    { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name, namespace }, spec },
  ]
  const second = 1 + index
  const range = { start: `10.${second}.0.10`, end: `10.${second}.0.20` }
  const subnet = {
    name: 'subnet0',
    cidr: `10.${second}.0.0/24`,
    gateway: `10.${second}.0.1`,
    allocationRanges: [range],
  }
  const section = { ansibleSSHPrivateKeySecret: SSH_SECRET, networks: [{ name: 'net0', subnetName: 'subnet0' }] }
  const node = { role: `role-${index}`, node: section, deployStrategy: {} }
  return new Map([
    build(netConfigKind, 'netconfig', { networks: [{ name: 'net0', dnsDomain: 'a.example.com', subnets: [subnet] }] }),
    build(dataPlaneServiceKind, 'step', { play: '- hosts: all\n' }),
    build(dnsDataKind, 'names', { hosts: [{ ip: '10.0.0.1', hostnames: ['a'] }] }),
    build(reservationKind, `node-${index}`, { ipSetRef: {}, reservation: {} }),
    build(dataPlaneKind, 'plane', {
      roles: { [`role-${index}`]: { nodeTemplate: section, services: ['step'], deployStrategy: {} } },
      nodes: { [`node-${index}`]: node },
    }),
  ])
}

/** In the names of the cloud: `role` and `node` stand for its role and its node. */
function resolvePath(at: Path, index: number): Path {
  return at.map((part, depth) => (depth === 2 && (part === 'role' || part === 'node') ? `${part}-${index}` : part))
}

async function store(kind: KindDefinition, field: Path, index: number): Promise<void> {
  const { client } = cluster
  const namespace = `ns-${index}`
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const stringData = { 'ssh-privatekey': 'x' }
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: SSH_SECRET, namespace }, stringData })
  for (const [part, object] of cloud(index)) {
    const hostile = withValue(object, resolvePath(field, index), expression(`${kind.kind}.${field.join('.')}`))
    await client.create(part === kind ? (hostile as KubeObject) : object).catch((thrown: unknown) => {
      // A value that the API server refuses cannot be evaluated.
      if (!(thrown instanceof Failure) || part !== kind) throw thrown
    })
  }
}

/** Evaluates every variable of every host, also when it is copied. */
const PLAY = `
- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        copied: "{{ lookup('vars', item) }}"
      loop: "{{ hostvars[inventory_hostname].keys() | list }}"
      when: item not in ['ansible_facts', 'groups', 'hostvars', 'omit', 'vars']
    - ansible.builtin.debug:
        msg: "{{ dict(hostvars[inventory_hostname]) }}"
`

it('evaluates no expression in a text field of NetConfig, Reservation, DNSData, data plane or service', async () => {
  const kinds = [netConfigKind, reservationKind, dnsDataKind, dataPlaneKind, dataPlaneServiceKind]
  const cases = kinds.flatMap((kind) => fieldsOf(kind).map((field) => ({ kind, field })))
  expect(cases.length).toBeGreaterThan(60)
  await mapConcurrently([...cases.entries()], 4, ([index, { kind, field }]) => store(kind, field, index))
  const nodes = async (): Promise<readonly DataPlaneNode[]> =>
    (await cluster.client.list(dataPlaneNodes)).items as unknown as readonly DataPlaneNode[]
  const inventories = async (): Promise<readonly string[]> =>
    (await cluster.client.list({ apiVersion: 'v1', kind: 'Secret' })).items.flatMap((secret) => {
      const data = (secret['data'] ?? {}) as { readonly inventory?: string }
      return data.inventory === undefined ? [] : [Buffer.from(data.inventory, 'base64').toString()]
    })
  // Some fields make the object unusable: its node reports it, and the others get an inventory.
  const unsettled = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      (await nodes()).map(async (node) => ((await isSettled(node)) ? [] : [describe(node)])),
    )
    return found.flat()
  }
  await expect.poll(unsettled, { timeout: 240_000, interval: 1000 }).toEqual([])
  const runs = (await cluster.client.list(ansibleRuns)).items as unknown as readonly AnsibleRun[]
  const texts = await inventories()
  expect(texts.some((text) => text.includes('!unsafe'))).toBe(true)
  const args = await writeInputs(texts, runs)
  await writeFile(marker, '')
  await writeFile(path.join(folder, 'play.yaml'), PLAY)
  const { exit, stdout } = await runProcess({
    file: 'ansible-playbook',
    args: [...args, path.join(folder, 'play.yaml')],
    env: {
      ...process.env,
      ANSIBLE_HOME: path.join(folder, 'ansible'),
      ANSIBLE_LOCAL_TEMP: path.join(folder, 'ansible/tmp'),
    },
  })
  expect(exit, stdout.slice(-3000)).toMatchObject({ kind: 'exited', code: 0 })
  const evaluated = new Set((await readFile(marker, 'utf8')).split('\n').filter(Boolean))
  expect([...evaluated]).toEqual([])
}, 600_000)

/** Whether the node has an inventory, or says what is wrong with it. */
async function isSettled({ metadata, status }: DataPlaneNode): Promise<boolean> {
  const ref = {
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: metadata.namespace ?? '',
    name: `dataplanenode-${metadata.name}`,
  }
  if (await cluster.client.get(ref)) return true
  return (status?.conditions ?? []).some((condition) => condition.severity === 'Error')
}

function describe({ metadata, status }: DataPlaneNode): string {
  const open = (status?.conditions ?? []).filter((condition) => condition.status !== 'True')
  return `${metadata.name}: ${open.map(({ type, message }) => `${type}: ${message}`).join(', ')}`
}

/** Every inventory and the extra variables of every run, for one call of Ansible. */
async function writeInputs(inventories: readonly string[], runs: readonly AnsibleRun[]): Promise<readonly string[]> {
  const files = [
    ...inventories.map((text, index) => ({ option: '-i', name: `inventory-${index}.yaml`, text })),
    ...runs.map((run, index) => ({ option: '-e', name: `extra-${index}`, text: formatExtraVars(run) })),
  ]
  await Promise.all(files.map(({ name, text }) => writeFile(path.join(folder, name), text)))
  return files.flatMap(({ option, name }) => [option, `${option === '-e' ? '@' : ''}${path.join(folder, name)}`])
}
