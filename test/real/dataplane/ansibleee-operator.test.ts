/**
 * Compares Jobs and conditions of runs with those of openstack-ansibleee-operator 0.1.0, which executed runs in 2023, for the
 * same objects on the same API server. Every difference has its reason here; another one fails.
 */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { jobs } from '../../../src/dataplane/execution/jobs/build-job.ts'
import { type AnsibleRun, type AnsibleRunSpec, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { type RunningProcess, startProcess, toProgram } from '../../../src/exec/process.ts'
import { isApiError } from '../../../src/kube/api-error.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'
import { useCluster } from '../../cluster.ts'
import { launchOperator } from '../ipam/operator.ts'
import { ansibleRun, mounts, play, SSH_SECRET, secret } from './runs.ts'

const cluster = useCluster({ crds: 'own-2023', controllerManager: true })
const soon = { timeout: 240_000, interval: 200 }
const pods = { apiVersion: 'v1', kind: 'Pod' }
/** Each side works in a namespace of its own, one after the other. */
const sides = ['theirs', 'ours'] as const
type Side = (typeof sides)[number]

const common = { inventory: 'all: {hosts: {edpm-compute-0: {}}}', image: 'registry.example/runner:1' }
const cases: Readonly<Record<string, AnsibleRunSpec>> = {
  play: { ...common, play: play([]), cmdLine: '--verbose', env: [{ name: 'ANSIBLE_FORKS', value: '5' }] },
  playbook: { ...common, playbook: 'osp.edpm.nova', uid: 1002, backoffLimit: 0, extraMounts: mounts('inventory') },
  role: {
    ...common,
    roles: { name: 'Deploy', hosts: 'all', tasks: [{ name: 'nova', import_role: { name: 'edpm_nova' } }] },
  },
  pod: {
    ...common,
    play: play([]),
    name: 'deploy',
    envConfigMapName: 'common',
    serviceAccountName: 'default',
    dnsConfig: { nameservers: ['192.168.122.80'] },
    networkAttachments: ['ctlplane'],
    args: ['ansible-runner', 'run', '/runner', '-p', 'site.yaml'],
  },
}

/** Paths in a Job that differ; of one run with its name. */
const named: Readonly<Record<string, string>> = {
  'spec.backoffLimit': 'an attempt is one pod: the operator itself starts the next one, and records the end of each',
  'spec.podReplacementPolicy': 'a second pod must not start while the first still works on the host',
  'spec.activeDeadlineSeconds': 'an attempt ends',
  'spec.template.metadata.labels.attempt': 'the number of the attempt',
  'spec.template.metadata.labels.deployIdentifier':
    'upstream repeats a run by another value of it, and here by an object',
  'spec.template.spec.containers.only.env.ANSIBLE_HOST_KEY_CHECKING': 'SSH host keys are checked',
  'spec.template.spec.containers.only.env.ANSIBLE_SSH_ARGS': 'SSH host keys are checked',
  'spec.template.spec.containers.only.env.STACKLOOM_': 'SSH host keys are checked',
  'spec.template.spec.containers.only.imagePullPolicy': 'nodes that have the image need no registry',
  'spec.template.spec.containers.only.terminationMessagePolicy':
    'the recap of the hosts is read from the end of the log',
  'spec.template.spec.securityContext': 'spec.uid, which upstream ignores; the key of SSH is readable for it',
  'spec.template.spec.topologySpreadConstraints': 'many runs at once do not compete for the memory of one node',
  'playbook: spec.template.spec.containers.only.env.RUNNER_PLAYBOOK': 'upstream sends the name as a content, too',
  'role: spec.template.spec.containers.only.env.RUNNER_PLAYBOOK':
    'upstream leaves out gather_facts: false, and Ansible gathers them',
  'pod: spec.template.spec.containers.only.args': 'args are the whole command; upstream adds an identifier',
}

/** What upstream's operator says. */
const output: string[] = []
let state = ''
const refusal = { text: undefined as string | undefined }
const seen = { theirs: new Map<string, Seen>(), ours: new Map<string, Seen>() }

interface Seen {
  readonly job: ReadonlyMap<string, string>
  readonly conditions: Readonly<Record<'running' | 'ended', readonly string[]>>
}

beforeAll(async () => {
  const program = await findTestProgram('ansibleee-operator')
  if (program === undefined) {
    refusal.text =
      'openstack-ansibleee-operator is not built, which takes minutes; `make test SUITE="data plane"` builds it'
    return
  }
  await serveAttachments()
  for (const side of sides) {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: side } })
    await furnish(side)
    const stop = side === 'theirs' ? startTheirs(program) : await startOurs()
    try {
      for (const [name, spec] of Object.entries(cases)) {
        const fails = name === 'playbook'
        seen[side].set(name, await observe(ansibleRun(side, name, spec), fails))
      }
    } finally {
      await stop()
    }
  }
}, 1_800_000)

function startTheirs(file: string): () => Promise<void> {
  const flags = ['--metrics-bind-address', '0', '--health-probe-bind-address', '0']
  const words = ['setpriv', '--pdeathsig', 'KILL', '--', ...cluster.inside, file, ...flags]
  const env = { ...process.env, ENABLE_WEBHOOKS: 'false', KUBECONFIG: cluster.insideKubeconfig }
  const child: RunningProcess = startProcess({ ...toProgram(words), env }, { onLine: (line) => output.push(line) })
  return async () => {
    child.kill('SIGKILL')
    await child.exit
  }
}

async function startOurs(): Promise<() => Promise<void>> {
  const { stop } = await launchOperator(cluster, { noWebhooks: true })
  return stop
}

/** What runs read. The kind of networks has no CRD here. */
async function furnish(namespace: Side): Promise<void> {
  const { client } = cluster
  const data = { ANSIBLE_TIMEOUT: '60' }
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'common', namespace }, data })
  const inventory = { inventory: 'all: {}' }
  await client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'inventory', namespace },
    data: inventory,
  })
  await client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': 'key' }))
  await client.create({ ...attachments, metadata: { name: 'ctlplane', namespace }, spec: { config: '{}' } })
}

const attachments = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' }

async function serveAttachments(): Promise<void> {
  const { client } = cluster
  if (await client.resource(attachments)) return
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const plural = 'network-attachment-definitions'
  await client.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.k8s.cni.cncf.io` },
    spec: {
      group: 'k8s.cni.cncf.io',
      scope: 'Namespaced',
      names: { kind: attachments.kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  const served = async (): Promise<void> => {
    if (!(await client.resource(attachments))) throw new Error('not served yet')
  }
  await vi.waitFor(served, soon)
}

/** Creates a run, ends its pod, and returns what was seen on the way. */
async function observe(run: AnsibleRun, fails: boolean): Promise<Seen> {
  const { client } = cluster
  const { name, namespace = '' } = run.metadata
  await client.create(run)
  const job = await waitFor(`Job ${namespace}/${name}`, async () => {
    const found = await client.get({ ...jobs, namespace, name })
    const { status } = (await client.get({ ...ansibleRuns, namespace, name })) as AnsibleRun
    if (found === undefined && status) state = JSON.stringify(status)
    return found
  })
  const running = await waitFor(`${namespace}/${name} running`, () => conditions(run, 'Running'))
  const wanted = fails ? 'Failed' : 'Succeeded'
  const ended = await waitFor(`${namespace}/${name} ended`, async () => {
    await endPods(namespace, fails)
    return conditions(run, wanted)
  })
  return { job: flatten({ spec: job['spec'] }), conditions: { running, ended } }
}

async function waitFor<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  return vi.waitFor(async () => {
    const found = await find()
    if (found === undefined) throw new Error(`no ${what}: ${state} ${output.at(-1)}`)
    return found
  }, soon)
}

async function conditions({ metadata }: AnsibleRun, state: string): Promise<readonly string[] | undefined> {
  const run = (await cluster.client.get({ ...ansibleRuns, ...metadata })) as AnsibleRun | undefined
  if (run?.status?.JobStatus !== state) return undefined
  // The messages are those of later versions; a run that is not repeated has the severity Error here, and Warning there.
  const text = ({ type, status, reason }: Condition): string => [type, status, reason].join(' ')
  return run.status.conditions?.map(text).toSorted()
}

/** There is no kubelet. */
async function endPods(namespace: string, fails: boolean): Promise<void> {
  const { items } = await cluster.client.list(pods, { namespace })
  for (const pod of items) await endPod(pod, fails)
}

async function endPod(pod: KubeObject, fails: boolean): Promise<void> {
  const { containers } = pod['spec'] as { readonly containers: readonly { readonly name: string }[] }
  const terminated = { exitCode: fails ? 2 : 0, reason: 'Completed', finishedAt: new Date().toISOString() }
  const containerStatuses = containers.map(({ name }) => ({
    name,
    image: 'x',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated },
  }))
  const status = { phase: fails ? 'Failed' : 'Succeeded', containerStatuses }
  const { name, namespace = '' } = pod.metadata
  try {
    await cluster.client.patch({ ...pods, namespace, name }, { status }, { type: 'merge', subresource: 'status' })
  } catch (error) {
    if (!isApiError(error, 'not-found', 'conflict')) throw error
  }
}

/** Values by path; what Kubernetes generates for each Job is left out. */
function flatten(value: unknown, at = ''): ReadonlyMap<string, string> {
  if (/controller-uid|job-name|selector|manualSelector|suspend/.test(at)) return new Map()
  if (typeof value !== 'object' || value === null) return new Map([[at, JSON.stringify(value)]])
  const entries = Array.isArray(value)
    ? unwrap(value).map((item, index) => [at.endsWith('.containers') ? 'only' : nameOf(item, index), item] as const)
    : Object.entries(value)
  return new Map(entries.flatMap(([key, item]) => [...flatten(item, `${at}${at && '.'}${key}`)]))
}

/** The command in the script that checks SSH host keys. */
function unwrap(words: readonly unknown[]): readonly unknown[] {
  return words[0] === 'sh' && words[1] === '-c' ? words.slice(3) : words
}

function nameOf(item: unknown, index: number): string {
  const { name } = (item ?? {}) as { readonly name?: string }
  return name ?? String(index)
}

function differences(name: string): readonly string[] {
  const [theirs, ours] = [seen.theirs.get(name)?.job ?? new Map(), seen.ours.get(name)?.job ?? new Map()]
  // Upstream writes an empty list of networks.
  const same = (key: string): boolean =>
    theirs.get(key) === '"[]"' || theirs.get(key)?.replaceAll('theirs', 'ours') === ours.get(key)
  return [...new Set([...theirs.keys(), ...ours.keys()])]
    .filter((key) => !same(key))
    .map((key) => `${key}: ${theirs.get(key)} -> ${ours.get(key)}`)
}

beforeEach((context) => {
  if (refusal.text !== undefined) context.skip(refusal.text)
})

describe.each(Object.keys(cases))('the run %s', (name) => {
  it('has the Job of upstream but for the named differences', () => {
    const isNamed = (line: string): boolean =>
      Object.keys(named).some((start) => line.startsWith(start) || `${name}: ${line}`.startsWith(start))
    expect(seen.ours.get(name)?.job.size).toBeGreaterThan(20)
    expect(differences(name).filter((line) => !isNamed(line))).toEqual([])
  })

  it('has the conditions of upstream', () => {
    expect(seen.ours.get(name)?.conditions).toEqual(seen.theirs.get(name)?.conditions)
  })
})
