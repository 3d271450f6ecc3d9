/**
 * The doctor on a real API server with the real MetalLB: a healthy site in which no rule fires, pending states that
 * MetalLB itself produces, and the same findings from a dump of the same state.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { gatherFromCluster } from '../../../src/cli/doctor/gather-evidence.ts'
import { main } from '../../../src/cli/main.ts'
import { type Diagnosis, diagnose, type Report } from '../../../src/doctor/diagnose.ts'
import { rules } from '../../../src/doctor/rules.ts'
import { useCluster } from '../../cluster.ts'
import { service } from '../../doctor/objects.ts'
import { testIo } from '../../io.ts'
import { sandboxPlan } from '../../plan.ts'
import {
  allActors,
  deploy,
  failedStages,
  nodeNames,
  prepareCluster,
  type RunningActors,
  startActors,
} from '../deploy/deployment-fixture.ts'

const escaped = (text: string): string => text.replaceAll(/[[\]()|.?*+^$]/g, '\\$&')

const plan = sandboxPlan({
  nodes: 2,
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})

describe('the doctor in the sandbox', { timeout: 240_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined

  beforeAll(async () => {
    await prepareCluster(cluster.client, nodeNames(plan))
    cast = startActors(cluster.connection, [...allActors, 'services'])
    expect(failedStages(await deploy(cluster.client, plan))).toEqual([])
  }, 300_000)
  afterAll(() => cast?.stop())

  const look = () =>
    gatherFromCluster(cluster.client, rules, {
      namespaces: [],
      ask: () => Promise.reject(new Error('no command runs here')),
      stop: new AbortController().signal,
    })
  const findings = async (): Promise<readonly Diagnosis[]> => {
    const { snapshot } = await look()
    const report = diagnose({ snapshot, now: Date.now(), plan }, rules)
    expect(report.findings).toEqual([])
    return report.diagnoses
  }
  const line = ({ rule, where, message }: Diagnosis): string =>
    `${rule} ${where && 'kind' in where ? `${where.kind} ${where.namespace}/${where.name}` : ''}: ${message}`
  const create = (object: KubeObject): Promise<unknown> => {
    const { uid: _uid, creationTimestamp: _time, generation: _generation, ...metadata } = object.metadata
    const { status: _status, ...rest } = object
    return cluster.client.create({ ...rest, metadata } as KubeObject)
  }

  /** Until the services' operators have made what they make: pods on networks, endpoints, Routes. */
  const served = () =>
    expect.poll(
      async () => {
        const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Pod' })
        const attached = items.filter(
          ({ metadata }) => metadata.annotations?.['k8s.v1.cni.cncf.io/network-status'] !== undefined,
        )
        return new Set(attached.map(({ metadata }) => metadata.namespace)).size
      },
      { timeout: 120_000, interval: 500 },
    )

  it('finds nothing after `up` of two clouds, and evaluates every rule', async () => {
    await served().toBe(2)
    // Seen as if an hour had passed, a pod that is only just starting is late: so until all of them run.
    const found = async () => {
      const { snapshot } = await look()
      const { diagnoses, blind } = diagnose({ snapshot, now: Date.now() + 3_600_000, plan }, rules)
      return { diagnoses: diagnoses.map(line), blind }
    }
    await expect.poll(found, { timeout: 120_000, interval: 500 }).toEqual({ diagnoses: [], blind: [] })
  })

  const pending: readonly (readonly [string, KubeObject, string])[] = [
    [
      'metallb/pending-unknown-pool',
      service('others/unknown', { annotations: { 'metallb.io/address-pool': 'internalapi' } }),
      'unknown pool "internalapi"',
    ],
    [
      'metallb/pending-not-in-pool',
      service('others/nowhere', { annotations: { 'metallb.io/loadBalancerIPs': '203.0.113.9' } }),
      'is not allowed in config',
    ],
    ['metallb/pending-nobody-serves', service('others/nothing'), 'no available IPs'],
    [
      'metallb/pending-two-wishes',
      service('others/twice', {
        annotations: { 'metallb.io/loadBalancerIPs': '203.0.113.9' },
        spec: { loadBalancerIP: '203.0.113.9' },
      }),
      'service can not have both',
    ],
    [
      'metallb/pending-wrong-family',
      service('others/family', { annotations: { 'metallb.io/loadBalancerIPs': 'fd00:99::9' } }),
      'does not match the ipFamily',
    ],
    [
      'metallb/pending-exhausted',
      service('others/full', { annotations: { 'metallb.io/address-pool': 'tiny' } }),
      // What 0.15 says of a pool that is full; the doctor says it better.
      '["<nil>"] is not allowed in config',
    ],
    [
      'metallb/pending-port-clash',
      service('others/clash', {
        annotations: { 'metallb.io/loadBalancerIPs': '198.51.100.1', 'metallb.io/allow-shared-ip': 'tiny' },
      }),
      'port TCP/443 is already in use',
    ],
    [
      'metallb/pending-sharing-refused',
      service('others/alone', {
        ports: [80],
        annotations: { 'metallb.io/loadBalancerIPs': '198.51.100.1' },
      }),
      'sharing',
    ],
    [
      'metallb/pending-not-for-namespace',
      service('thieves/thief', { annotations: { 'metallb.io/address-pool': 'wide' } }),
      'pool wide not compatible for ip assignment',
    ],
    [
      'metallb/pending-other-pool',
      service('others/both', {
        annotations: { 'metallb.io/address-pool': 'other', 'metallb.io/loadBalancerIPs': '198.51.100.9' },
      }),
      'is not compatible with requested address pool',
    ],
  ]

  it('agrees with MetalLB on every pending Service and quotes its event', async () => {
    for (const name of ['others', 'thieves']) await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    for (const [name, addresses] of [
      ['tiny', '198.51.100.1/32'],
      ['wide', '198.51.100.8/30'],
      ['other', '198.51.100.16/30'],
    ] as const)
      await create({
        apiVersion: 'metallb.io/v1beta1',
        kind: 'IPAddressPool',
        metadata: { name, namespace: 'metallb-system' },
        spec: { addresses: [addresses], autoAssign: false, serviceAllocation: { namespaces: ['others'] } },
      })
    await create(
      service('others/holder', {
        annotations: { 'metallb.io/address-pool': 'tiny', 'metallb.io/allow-shared-ip': 'tiny' },
      }),
    )
    await expect
      .poll(
        async () => {
          const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'others', name: 'holder' }
          return JSON.stringify((await cluster.client.get(ref))?.['status'])
        },
        { timeout: 30_000 },
      )
      .toContain('198.51.100.1')
    for (const [, object] of pending) await create(object)
    const told = async (): Promise<Readonly<Record<string, string>>> => {
      const services = (await findings()).filter(({ where }) => where && 'kind' in where && where.kind === 'Service')
      return Object.fromEntries(
        services.map(({ rule, where, saw }) => [
          where && 'name' in where ? where.name : '',
          `${rule} ${saw.join(' ')}`,
        ]),
      )
    }
    const expected = pending.map(([rule, object, event]) => [
      object.metadata.name,
      expect.stringMatching(new RegExp(`^${rule} event AllocationFailed: .*${escaped(event)}`)) as string,
    ])
    await expect.poll(told, { timeout: 60_000, interval: 500 }).toEqual(Object.fromEntries(expected))
  })

  it('reports the same from a dump of the same state', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-doctor-'))
    try {
      const { snapshot } = await look()
      writeFileSync(
        path.join(folder, 'all.json'),
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: snapshot.objects }),
      )
      const run = async (...args: readonly string[]) => {
        const io = testIo()
        const code = await main(['doctor', '-o', 'json', ...args], io)
        return { code, ...(JSON.parse(io.out()) as Pick<Report, 'diagnoses' | 'blind'>) }
      }
      const live = await run('--kubeconfig', cluster.kubeconfig)
      const offline = await run('--from', folder)
      expect(live.diagnoses.length).toBeGreaterThanOrEqual(pending.length)
      expect(offline).toMatchObject({ code: 1, diagnoses: live.diagnoses })
      expect(live.code).toBe(1)
      const saved = path.join(folder, 'saved')
      const saving = await run('--kubeconfig', cluster.kubeconfig, '--save', saved)
      const fromSaved = await run('--from', saved)
      expect(fromSaved).toMatchObject({ diagnoses: saving.diagnoses, blind: saving.blind })
      expect(readFileSync(path.join(saved, 'Secret.json'), 'utf8')).toMatch(
        /^\{\n {2}"apiVersion": "v1",\n {2}"kind": "SecretList"/,
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
