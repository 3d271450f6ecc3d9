/**
 * Stores objects of a tenant with an expression in each text field, one at a time, on a real API server without webhooks,
 * and lets real Ansible read everything that the operator hands to it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isMap, isScalar, parseDocument, visit } from 'yaml'
import { groupBy } from '../../../src/api/collections.ts'
import { dnsDataKind } from '../../../src/api/dnsdata.ts'
import { dnsMasqKind } from '../../../src/api/dnsmasq.ts'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { mapConcurrently } from '../../../src/async/map-concurrently.ts'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import {
  type DataPlaneNode,
  dataPlaneKind,
  dataPlaneNodeKind,
  dataPlaneNodes,
  dataPlaneServiceKind,
} from '../../../src/dataplane/kinds/data-plane.ts'
import { novaCellKind, novaExternalComputeKind } from '../../../src/dataplane/kinds/nova.ts'
import type { ServiceObject } from '../../../src/dataplane/kinds/service-object.ts'
import { nodeServices } from '../../../src/dataplane/service-definitions/all.ts'
import { Failure } from '../../../src/errors/failure.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { isApiError } from '../../../src/kube/api-error.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { SSH_SECRET } from '../../data-plane.ts'
import { useFolder } from '../../folder.ts'
import { launchOperator, type RunningOperator } from '../ipam/operator.ts'
import {
  type Attack,
  cloud,
  conductorPod,
  describeField,
  isOfNames,
  isOfService,
  listAttacks,
  sharedSecret,
  withValue,
} from './hostile-cloud.ts'

const cluster = useCluster({ crds: 'own-2023' })
const folder = useFolder()
const marker = path.join(folder, 'evaluated')
const jobs = { apiVersion: 'batch/v1', kind: 'Job' } as const
const secrets = { apiVersion: 'v1', kind: 'Secret' } as const
let operator: RunningOperator | undefined

beforeAll(async () => {
  operator = await launchOperator(cluster, { noWebhooks: true })
}, 120_000)
afterAll(() => operator?.stop())

/** Leaves a line with the name of the field when Ansible evaluates it. */
const expression = (attack: Attack): string => `{{ lookup('pipe', 'echo ${describeField(attack)} >> ${marker}') }}`

/** Whether the API server stored the hostile object: what it refuses cannot be evaluated. */
async function store(attack: Attack): Promise<boolean> {
  const { client } = cluster
  const { namespace, kind, index } = attack
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const name of [SSH_SECRET, 'all']) {
    await client.create({ ...secrets, metadata: { name, namespace }, stringData: sharedSecret })
  }
  if (kind === novaExternalComputeKind) await client.create(conductorPod(namespace))
  // The member `node` of a data plane has the name of the node.
  const field = attack.field.map((part, depth) => (depth === 2 && part === 'node' ? `node-${index}` : part))
  let isStored = true
  for (const [definition, object] of cloud(attack)) {
    const isHostile = definition === kind
    const stored = isHostile ? (withValue(object, field, expression(attack)) as KubeObject) : object
    try {
      const created = await client.create(stored)
      if (definition === novaCellKind) await makeReady(created)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || !isHostile) throw thrown
      isStored = false
    }
  }
  return isStored
}

async function makeReady(object: KubeObject): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await cluster.client.update({ ...object, status: { conditions } }, { subresource: 'status' })
}

/** The Jobs that were created; no kubelet runs them here. */
const createdJobs = new Map<string, KubeObject>()

/** Lets every run whose Job exists succeed, so that the next step of its node follows. */
async function completeRuns(): Promise<void> {
  for (const job of (await cluster.client.list(jobs)).items) createdJobs.set(job.metadata.uid ?? '', job)
  const runs = (await cluster.client.list(ansibleRuns)).items as unknown as readonly AnsibleRun[]
  const isStarted = ({ metadata }: AnsibleRun): boolean =>
    [...createdJobs.values()].some((job) => job.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
  const started = runs.filter((run) => run.status?.JobStatus === 'Running' && isStarted(run))
  await mapConcurrently(started, 8, async (run) => {
    const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0 }
    const hosts = (run.metadata.annotations?.['stackloom.dev/hosts'] ?? '').split(',')
    const result = {
      reason: 'Completed',
      finishedAt: new Date().toISOString(),
      hosts: Object.fromEntries(hosts.map((host) => [host, counts])),
    }
    const status = { ...run.status, JobStatus: 'Succeeded', result }
    await cluster.client.update({ ...run, status }, { subresource: 'status' }).catch((thrown: unknown) => {
      // The operator was faster: the next round has another look.
      if (!isApiError(thrown, 'conflict', 'not-found')) throw thrown
    })
  })
}

const readConditions = (object: KubeObject): readonly Condition[] =>
  (object as unknown as DataPlaneNode).status?.conditions ?? []

/**
 * A node is deployed or reports what is wrong, and so is a service. Of a step the run is enough, and of a DNS server, which
 * gets no address here, its status.
 */
function isSettled(attack: Attack, object: KubeObject): boolean {
  const conditions = readConditions(object)
  if (isOfNames(attack)) return object.kind === attack.kind.kind && conditions.length > 0
  const isTrue = (type: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === 'True')
  // Also a Job that the API server refuses, because of a text that no pod can have: it is tried again and never runs. A
  // missing inventory (SL7115) is written soon, unless its name is the expression.
  const isReported = conditions.some(
    ({ severity, message = '' }) =>
      (severity === 'Error' && !message.includes('SL7115')) || /\{\{|SL1111: batch\/Job/.test(message),
  )
  const isStarted = [...createdJobs.values()].some(({ metadata }) => metadata.namespace === attack.namespace)
  if (attack.kind === dataPlaneServiceKind) return isReported || isStarted
  if (isOfService(attack)) return object.kind === attack.kind.kind && (isReported || isTrue('Ready'))
  return isReported || (object.kind === dataPlaneNodes.kind && isTrue('Ready') && isTrue('ServicesReady'))
}

/** The attacks whose objects are not settled, with what their nodes report. */
async function unsettledAttacks(stored: readonly Attack[]): Promise<readonly string[]> {
  await completeRuns()
  const services = nodeServices.map(({ crd }) => crd)
  const kinds = [dataPlaneKind, dataPlaneNodeKind, dnsMasqKind, dnsDataKind, ...services]
  const lists = await Promise.all(
    kinds.map(({ group, version, kind }) => cluster.client.list({ apiVersion: `${group}/${version}`, kind })),
  )
  const objects = groupBy(
    lists.flatMap(({ items }) => items),
    ({ metadata }) => metadata.namespace ?? '',
  )
  return stored.flatMap((attack) => {
    const mine = objects.get(attack.namespace) ?? []
    if (mine.some((object) => isSettled(attack, object))) return []
    const messages = mine.map((object) => `${object.kind}: ${readConditions(object)[0]?.message ?? 'no status'}`)
    return [`${attack.namespace} ${describeField(attack)}: ${messages.join(', ')}`]
  })
}

/** Texts in a file of Ansible that it would evaluate: values without the mark, and keys, which cannot have one. */
function unmarkedTexts(text: string): readonly string[] {
  const document = parseDocument(text, { version: '1.1', logLevel: 'silent' })
  const found: string[] = []
  visit(document, {
    Scalar: (key, node, path) => {
      const isKey = key === 'key' && path.some(isMap)
      if (isScalar(node) && String(node.value).includes('{{') && (isKey || node.tag !== '!unsafe')) {
        found.push(String(node.value))
      }
    },
  })
  return found
}

/** Evaluates every variable of every host, also when it is copied. */
const PLAY = `
- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        copied: "{{ query('ansible.builtin.vars', *names) }}"
      vars:
        names: "{{ hostvars[inventory_hostname].keys() | difference(['ansible_facts', 'groups', 'hostvars', 'omit', 'vars', 'names']) }}"
    - ansible.builtin.debug:
        msg: "{{ copied }} {{ dict(hostvars[inventory_hostname]) }}"
`

interface AnsibleInputs {
  readonly inventories: readonly string[]
  readonly extraVars: readonly string[]
  readonly commandLines: readonly string[]
}

/** What the operator hands to Ansible: Secrets with inventories, and the variables of Jobs that its image writes to files. */
async function collectInputs(): Promise<AnsibleInputs> {
  const inventories = (await cluster.client.list(secrets)).items.flatMap((secret) => {
    const { inventory } = (secret['data'] ?? {}) as { readonly inventory?: string }
    return inventory === undefined ? [] : [Buffer.from(inventory, 'base64').toString()]
  })
  const variables = [...createdJobs.values()].flatMap((job) => {
    const { template } = job['spec'] as {
      readonly template: { readonly spec: { readonly containers: readonly { readonly env?: readonly EnvVar[] }[] } }
    }
    return template.spec.containers.flatMap(({ env = [] }) => env)
  })
  const valuesOf = (name: string): readonly string[] =>
    variables.flatMap((variable) => (variable.name === name ? [variable.value ?? ''] : []))
  return { inventories, extraVars: valuesOf('RUNNER_EXTRA_VARS'), commandLines: valuesOf('RUNNER_CMDLINE') }
}

/** The attacks on images of services without a condition that names the field: an image becomes a line of a unit. */
async function unreportedImages(stored: readonly Attack[]): Promise<readonly string[]> {
  const unreported: string[] = []
  for (const attack of stored) {
    const { kind, namespace, field } = attack
    if (!isOfService(attack) || !String(field.at(-1)).endsWith('ContainerImage')) continue
    const { items } = await cluster.client.list(
      { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind },
      { namespace },
    )
    const messages = items.flatMap(readConditions).map(({ message = '' }) => message)
    if (!messages.some((message) => message.includes('SL7133'))) unreported.push(describeField(attack))
  }
  return unreported
}

interface EnvVar {
  readonly name: string
  readonly value?: string
}

async function runAnsible({ inventories, extraVars }: AnsibleInputs): Promise<readonly string[]> {
  // What has no expression is not worth the time.
  const isHostile = (text: string): boolean => text.includes('{{')
  const files = [
    ...inventories.filter(isHostile).map((text, index) => ({ option: '-i', name: `inventory-${index}.yaml`, text })),
    ...extraVars.filter(isHostile).map((text, index) => ({ option: '-e', name: `extra-${index}`, text })),
  ]
  await Promise.all(files.map(({ name, text }) => writeFile(path.join(folder, name), text)))
  await Promise.all([writeFile(marker, ''), writeFile(path.join(folder, 'play.yaml'), PLAY)])
  const args = files.flatMap(({ option, name }) => [option, `${option === '-e' ? '@' : ''}${path.join(folder, name)}`])
  const { exit, stdout } = await runProcess({
    file: 'ansible-playbook',
    args: [...args, path.join(folder, 'play.yaml')],
    env: { ...process.env, ANSIBLE_HOME: path.join(folder, 'ansible'), ANSIBLE_LOCAL_TEMP: path.join(folder, 'tmp') },
  })
  expect(exit, stdout.slice(-3000)).toMatchObject({ kind: 'exited', code: 0 })
  return [...new Set((await readFile(marker, 'utf8')).split('\n').filter(Boolean))]
}

it('evaluates no expression in a text field of an object that a tenant stored', async () => {
  // A few fields of each kind: those of all take minutes.
  const attacks = listAttacks(count({ test: 3, soak: 1000 }))
  const outcomes = await mapConcurrently(attacks, 8, async (attack) => ((await store(attack)) ? [attack] : []))
  const stored = outcomes.flat()
  // A field that the API server refuses is no attack: most must be stored.
  expect(stored.length).toBeGreaterThan(attacks.length / 2)
  await expect
    .poll(() => unsettledAttacks(stored), { timeout: count({ test: 300_000, soak: 1_200_000 }), interval: 500 })
    .toEqual([])
  const inputs = await collectInputs()
  // Otherwise Ansible would have nothing to evaluate: values of nodes are in inventories, images of services in variables.
  expect(inputs.inventories.join('')).toMatch(/!unsafe "\{\{ lookup/)
  for (const { steps } of nodeServices) {
    const names = steps.flatMap((step) => Object.keys(step.extraVars?.({ spec: {} } as ServiceObject) ?? {}))
    for (const name of names) expect(inputs.extraVars.join('')).toContain(name)
  }
  expect([...inputs.inventories, ...inputs.extraVars].flatMap(unmarkedTexts)).toEqual([])
  // Images are all that services give to Ansible, and an image with an expression is refused before a run is made.
  expect(inputs.extraVars.filter((text) => text.includes('{{'))).toEqual([])
  expect(inputs.commandLines.filter((line) => line.includes('{{'))).toEqual([])
  expect(await runAnsible(inputs)).toEqual([])
  expect(await unreportedImages(stored)).toEqual([])
  expect(operator?.ended()).toBeUndefined()
}, 1_800_000)
