/**
 * Compares the operator with the real infra-operator on one API server with upstream's CRDs: the same addresses on random
 * sequences except for listed differences; its addresses are taken over; and an observer writes nothing but Events.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import type { AddressBlock } from '../../../src/api/address-block.ts'
import { addressBlocks } from '../../../src/api/address-block.ts'
import { type IpSet, ipSets, reservations } from '../../../src/api/ipset.ts'
import { type NetConfigSpec, netConfigs } from '../../../src/api/netconfig.ts'
import { type KubeObject, objectKey } from '../../../src/api/object.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { design2023, ipSet } from '../../ipam.ts'
import { type History, openHistory } from './history.ts'
import { type InfraOperator, startInfraOperator } from './infra-operator.ts'
import { launchOperator, type RunningOperator } from './operator.ts'
import { createSequenceRunner, type Rules, ready } from './sequence-runner.ts'
import { adaptForInfraOperator, exceptions, sequences } from './sequences.ts'

const cluster = useCluster({ crds: '2023', controllerManager: true })
/** infra-operator's client is throttled: the full counts take most of an hour. */
const limit = count({ test: 1_200_000, soak: 7_200_000 })
const soon = { timeout: count({ test: 240_000, soak: 3_600_000 }), interval: 100 }
const seed = Number(process.env['STACKLOOM_SEED'] ?? Math.floor(Math.random() * 1e9))
const all = sequences(count({ test: 30, soak: 300 }), seed)
const many = count({ test: 50, soak: 1_000 })
let folder: string
let peer: InfraOperator | undefined
let ours: RunningOperator | undefined
let history: History | undefined

const create = (object: KubeObject): Promise<unknown> => cluster.client.create(object)
const read = async (namespace: string, name: string): Promise<IpSet | undefined> =>
  (await cluster.client.get({ ...ipSets, namespace, name })) as IpSet | undefined
const list = async <T extends KubeObject>(kind: { apiVersion: string; kind: string }, namespace?: string) =>
  (await cluster.client.list(kind, namespace === undefined ? {} : { namespace })).items as readonly T[]
const { configure, settles, play, stateOf, reconciled, touchWaiting } = createSequenceRunner(cluster, soon)

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-peer-'))
  for (const crd of ownCrds) await cluster.client.apply(crd, { fieldManager: 'test' })
  await vi.waitUntil(() => cluster.client.resource(addressBlocks), soon)
  peer = await startInfraOperator(cluster, path.join(folder, 'infra-operator.log'))
}, limit)
afterAll(async () => {
  await history?.close()
  await ours?.stop()
  await peer?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** The usual five networks, wide enough for every host. */
const fiveNetworks: NetConfigSpec = {
  networks: ['CtlPlane', 'InternalApi', 'Storage', 'Tenant', 'External'].map((name, index) => ({
    name,
    mtu: 1500,
    dnsDomain: `${name.toLowerCase()}.example.com`,
    subnets: [
      {
        name: 'subnet1',
        cidr: `172.${17 + index}.0.0/16`,
        gateway: `172.${17 + index}.0.1`,
        vlan: 20 + index,
        allocationRanges: [{ start: `172.${17 + index}.0.100`, end: `172.${17 + index}.250.200` }],
      },
    ],
  })),
}
const hosts = Array.from({ length: many }, (_, n) => `edpm-compute-${n}`)

describe('infra-operator and the operator', () => {
  const played: { peer?: readonly (readonly string[])[] } = {}

  it(
    'infra-operator runs the sequences',
    async () => {
      const rules: Rules = { nudge: touchWaiting, spec: adaptForInfraOperator }
      played.peer = await Promise.all(all.map((sequence, n) => play(`peer-${n}`, sequence, rules)))
      expect(played.peer.flat().join('\n')).toContain('host-0=')
    },
    limit,
  )

  it(
    'infra-operator serves the hosts that are taken over later',
    async () => {
      await configure('moving', fiveNetworks)
      const networks = fiveNetworks.networks.map(({ name }) => ({ name }))
      await Promise.all(hosts.map((name) => create(ipSet(name, networks, 'moving'))))
      await expect
        .poll(async () => (await list<IpSet>(ipSets, 'moving')).filter((ipSet) => ready(ipSet) === 'True').length, soon)
        .toBe(many)
    },
    limit,
  )

  it(
    'an observer reports causes in Events and metrics, without permission to write anything else',
    async () => {
      const [network] = fiveNetworks.networks
      const [subnet] = network?.subnets ?? []
      if (!network || !subnet) throw new Error('no network')
      const allocationRanges = [{ start: '172.17.0.10', end: '172.17.0.10' }]
      await configure('watched', { networks: [{ ...network, subnets: [{ ...subnet, allocationRanges }] }] })
      for (const name of ['a', 'b']) {
        await create(ipSet(name, [{ name: 'CtlPlane' }], 'watched'))
        await settles('watched', name)
      }
      const observer = await launchOperator(cluster, { kubeconfig: await asReader(), observe: true })
      const notes = async (): Promise<readonly string[]> =>
        (await list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, 'watched')).map((event) => String(event['note']))
      await expect.poll(notes, soon).toEqual([expect.stringContaining('SL5001')])
      const figures = await (await fetch(`http://127.0.0.1:${observer.healthPort}/metrics`)).text()
      expect(figures).toContain(
        'stackloom_ipam_ipsets_waiting{namespace="watched",network="CtlPlane",subnet="subnet1"} 1',
      )
      await observer.stop()
      expect(observer.said()).not.toMatch(/forbidden/i)
    },
    limit,
  )

  it(
    'the operator takes over its addresses without a change or an unnecessary write',
    async () => {
      await peer?.stop()
      peer = undefined
      const state = async (): Promise<Readonly<Record<string, string | undefined>>> => {
        const objects = [...(await list(ipSets, 'moving')), ...(await list(reservations, 'moving'))]
        return Object.fromEntries(
          objects.map((object) => [`${object.kind} ${objectKey(object.metadata)}`, object.metadata.resourceVersion]),
        )
      }
      const before = await state()
      expect(Object.keys(before)).toHaveLength(2 * many)
      const given = (await list<IpSet>(ipSets, 'moving')).flatMap(({ status }) =>
        (status?.reservations ?? []).map(({ address }) => address),
      )
      ours = await launchOperator(cluster, { noWebhooks: true })
      const held = async (): Promise<readonly string[]> =>
        (await list<AddressBlock>(addressBlocks))
          .filter(({ spec }) => spec.segment.startsWith('moving/'))
          .flatMap(({ spec }) => Object.keys(spec.holders))
      await expect.poll(async () => (await held()).toSorted(), soon).toEqual(given.toSorted())
      // A new IPSet is served after all existing ones are reconciled.
      await create(ipSet('newcomer', [{ name: 'CtlPlane' }], 'moving'))
      await settles('moving', 'newcomer')
      const { healthPort } = ours
      const reconciles = async (): Promise<number> => {
        const page = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text()
        return Number(/reconcile_total\{[^}]*result="success"[^}]*\} (\d+)/.exec(page)?.[1] ?? 0)
      }
      await expect.poll(reconciles, soon).toBeGreaterThan(many)
      const after = await state()
      expect(Object.fromEntries(Object.entries(after).filter(([key]) => key in before))).toEqual(before)
    },
    limit,
  )

  it(
    'the operator assigns the same addresses after each step, except for listed differences',
    async () => {
      expect(exceptions.length).toBeGreaterThan(0)
      // The operator serves waiting IPSets without a nudge; an IPSet that cannot be served gives it time for that.
      const nudge = (namespace: string): Promise<void> => reconciled(namespace, 'all')
      const rules: Rules = { nudge, spec: (spec) => spec }
      history = await openHistory(cluster, (namespace) => namespace.startsWith('ours-'))
      const own = await Promise.all(
        all.map((sequence, n) => play(`ours-${n}`, sequence, { ...rules, wanted: played.peer?.[n] })),
      )
      const about = (n: number): string => `seed ${seed}, sequence ${n}: ${JSON.stringify(all[n])}`
      for (const n of all.keys()) expect(own[n], about(n)).toEqual(played.peer?.[n])
      // Nothing changed after the last recorded state, and no other state was there in between.
      await create(ipSet('another', [{ name: 'CtlPlane' }], 'moving'))
      await settles('moving', 'another')
      for (const n of all.keys()) expect(await stateOf(`ours-${n}`), about(n)).toBe(played.peer?.[n]?.at(-1))
      expect(history.changes()).toBeGreaterThan(all.length)
      expect(history.lost()).toEqual([])
    },
    limit,
  )
})

describe('the networking design of 2023 with its CRDs', () => {
  it('results in the status of the design', async () => {
    const { netConfig: made, ipSet: requested, reservations: expected } = design2023
    const { namespace = '' } = requested.metadata
    // Required by these CRDs, which are newer than the design; the status repeats it.
    const domain = (network: string): string => `${network.toLowerCase()}.example.com`
    await configure(namespace, {
      networks: made.spec.networks.map((network) => ({ ...network, dnsDomain: domain(network.name) })),
    })
    await create(requested)
    await settles(namespace, requested.metadata.name)
    const { status } = (await read(namespace, requested.metadata.name)) ?? {}
    expect(status?.reservations).toEqual(expected.map((entry) => ({ ...entry, dnsDomain: domain(entry.network) })))
    expect(status?.conditions?.map(({ type, status: is, message }) => [type, is, message])).toEqual([
      ['Ready', 'True', 'Setup complete'],
      ['InputReady', 'True', 'Input data complete'],
      ['ReservationReady', 'True', 'Reservation successful'],
    ])
  }, 120_000)
})

/** A kubeconfig that may read the kinds and write Events. */
async function asReader(): Promise<string> {
  const name = 'observer'
  await create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      {
        apiGroups: ['network.openstack.org'],
        resources: [netConfigs, ipSets, reservations].map(({ kind }) => `${kind.toLowerCase()}s`),
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ],
  })
  await create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  })
  const parsed = parse(await readFile(cluster.kubeconfig, 'utf8')) as { users: { user: object }[] }
  for (const { user } of parsed.users) Object.assign(user, { as: name, 'as-groups': ['system:authenticated'] })
  const file = path.join(folder, 'kubeconfig')
  await writeFile(file, JSON.stringify(parsed))
  return file
}
