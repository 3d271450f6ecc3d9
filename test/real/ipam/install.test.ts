/**
 * Runs `operator install` on a real API server without the kinds, and then the installed operator: with its own
 * ServiceAccount and permissions, behind its Service, with leader election.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { addressBlocks } from '../../../src/api/address-block.ts'
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { useCluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { forwardService } from './installed.ts'
import { launchOperator, type RunningOperator } from './operator.ts'

const cluster = useCluster({ crds: 'none' })
const soon = { timeout: 60_000, interval: 50 }
const home = 'stackloom-operator'
let folder: string
const operators: RunningOperator[] = []
const helpers: ChildProcess[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-install-'))
})
afterAll(async () => {
  for (const operator of operators) await operator.stop()
  for (const helper of helpers) helper.kill('SIGKILL')
  if (folder) await rm(folder, { recursive: true, force: true })
})

async function install(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = testIo()
  const flags = ['--image', 'example.org/stackloom:1', '--kubeconfig', cluster.kubeconfig]
  const code = await main(['operator', 'install', ...flags, ...words], io)
  return { code, out: io.out(), err: io.err() }
}

const rival = (replicas: number): KubeObject => {
  const labels = { app: 'infra-operator' }
  const containers = [{ name: 'manager', image: 'example.org/infra-operator' }]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'infra-operator-controller-manager', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  }
}

/** The admin's kubeconfig that impersonates the operator's ServiceAccount: RBAC applies to every request. */
async function asOperator(): Promise<string> {
  const file = path.join(folder, 'kubeconfig')
  const parsed = parse(await readFile(cluster.kubeconfig, 'utf8')) as { users: { user: object }[] }
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${home}`, 'system:authenticated']
  for (const { user } of parsed.users) {
    Object.assign(user, { as: `system:serviceaccount:${home}:stackloom-operator`, 'as-groups': groups })
  }
  await writeFile(file, JSON.stringify(parsed))
  return file
}

describe('operator install', () => {
  it('refuses where infra-operator runs, with the reason and the alternatives, and changes nothing', async () => {
    await cluster.client.create(rival(1))
    const { code, err } = await install()
    expect(code).toBe(1)
    expect(err).toContain('SL5102')
    expect(err).toContain('default/infra-operator-controller-manager')
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: home }
    expect(await cluster.client.get(namespace)).toBeUndefined()
    await cluster.client.patch(
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: rival(1).metadata.name },
      { spec: { replicas: 0 } },
      { type: 'merge' },
    )
  })

  it('only prints with --dry-run', async () => {
    const { code, out } = await install('--dry-run')
    expect(code).toBe(0)
    expect(out).toContain('image: example.org/stackloom:1')
    expect(await cluster.client.get({ apiVersion: 'v1', kind: 'Namespace', name: home })).toBeUndefined()
  })

  it('spreads its replicas, and limits disruptions and open ports', async () => {
    const { out } = await install('--dry-run')
    const documents = out.split(/^---$/m).map((text) => parse(text) as KubeObject | null)
    const spec = (kind: string) => documents.find((document) => document?.kind === kind)?.['spec']
    expect(spec('PodDisruptionBudget')).toMatchObject({ maxUnavailable: 1 })
    const ports = [9443, 8081].map((port) => ({ port, protocol: 'TCP' }))
    expect(spec('NetworkPolicy')).toMatchObject({ policyTypes: ['Ingress'], ingress: [{ ports }] })
    expect(JSON.stringify(spec('Deployment'))).toContain('"topologyKey":"kubernetes.io/hostname"')
  })

  it('creates everything once, and finds it unchanged the second time', async () => {
    const first = await install('-o', 'json')
    expect(first.code).toBe(0)
    const applied = JSON.parse(first.out).applied as readonly { kind: string; outcome: string }[]
    expect(new Set(applied.map(({ outcome }) => outcome))).toEqual(new Set(['created']))
    expect(new Set(applied.map(({ kind }) => kind))).toContain('ValidatingWebhookConfiguration')
    const second = await install()
    expect(second.out).not.toMatch(/^(created|configured)/m)
    expect(second.out).toMatch(/^unchanged +Deployment +stackloom-operator\/stackloom-operator$/m)
  })
})

describe('the installed operator', () => {
  const namespace = 'cloud'
  const read = async (name: string): Promise<IpSet> =>
    (await cluster.client.get({ ...ipSets, namespace, name })) as IpSet
  const ready = async (name: string): Promise<string | undefined> =>
    (await read(name)).status?.conditions?.find((condition) => condition.type === 'Ready')?.status
  const ask = (name: string, fixedIP?: string): Promise<unknown> =>
    cluster.client.create(ipSet(name, [fixedIP === undefined ? {} : { fixedIP }], namespace))

  beforeAll(async () => {
    await vi.waitUntil(() => cluster.client.resource(addressBlocks), soon)
    const options = {
      kubeconfig: await asOperator(),
      namespace: home,
      webhookService: 'stackloom-webhook',
      leaderElection: true,
    }
    for (let n = 0; n < 2; n += 1) operators.push(await launchOperator(cluster, options))
    for (const operator of operators) await operator.says('webhooks are served')
    helpers.push(await forwardService(cluster, operators[0]?.webhookPort ?? 0))
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const made = netConfig(threeNetworks)
    await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
  }, 600_000)

  it('serves an IPSet with its permissions, and its webhooks answer behind the Service', async () => {
    await ask('a')
    await expect.poll(() => ready('a'), soon).toBe('True')
    await expect(ask('b', '10.0.0.1')).rejects.toThrow('address not in IP address prefix')
    expect((await read('a')).metadata.finalizers).toEqual(['openstack.org/ipset'])
  })

  it('may write conditions, Events, and the finalizers of a deleted IPSet', async () => {
    await ask('c', '172.17.0.201')
    await expect.poll(() => ready('c'), soon).toBe('False')
    const notes = async (): Promise<readonly string[]> =>
      (await cluster.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, { namespace })).items.map((item) =>
        String(item['note']),
      )
    await expect.poll(notes, soon).toEqual([expect.stringContaining('SL5003')])
    for (const name of ['a', 'c']) await cluster.client.delete({ ...ipSets, namespace, name })
    await expect.poll(async () => (await cluster.client.list(ipSets)).items, soon).toEqual([])
    for (const operator of operators) expect(operator.said()).not.toMatch(/forbidden/i)
  })

  it('has one leader, and another pod takes over when it stops', async () => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: home, name: home }
    const holder = async (): Promise<unknown> =>
      ((await cluster.client.get(lease))?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity
    const first = await holder()
    expect(first).toBeTruthy()
    const leads = async (runningOperator: RunningOperator): Promise<boolean> =>
      /leader_election_master_status\{[^}]*\} 1/.test(
        await (await fetch(`http://127.0.0.1:${runningOperator.healthPort}/metrics`)).text(),
      )
    const leading = await Promise.all(operators.map(leads))
    expect(leading.filter(Boolean)).toHaveLength(1)
    // The Service forwards to the first pod, and the leader stops, so the request needs no webhooks.
    const leader = operators[leading.indexOf(true)]
    await leader?.stop()
    await expect.poll(holder, soon).not.toBe(first)
    const left = operators.find((operator) => operator !== leader)
    await expect.poll(() => left && leads(left), soon).toBe(true)
  })

  it('reports an infra-operator that is started later', async () => {
    const [left] = operators.filter((operator) => operator.ended() === undefined)
    const { name } = rival(1).metadata
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name }
    await cluster.client.patch(ref, { spec: { replicas: 1 } }, { type: 'merge' })
    await left?.says('SL5102')
    const running = async (): Promise<string> =>
      (await (await fetch(`http://127.0.0.1:${left?.healthPort}/metrics`)).text())
        .split('\n')
        .filter((line) => line.startsWith('stackloom_infra_operator_running'))
        .join()
    await expect.poll(running, soon).toBe('stackloom_infra_operator_running 1')
    const events = async (): Promise<string> =>
      JSON.stringify((await cluster.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })).items)
    await expect.poll(events, soon).toContain('SL5102')
    await cluster.client.patch(ref, { spec: { replicas: 0 } }, { type: 'merge' })
    await expect.poll(running, soon).toBe('stackloom_infra_operator_running 0')
  })
})
