/** Hosts of clouds with the CRDs of the newest release; openstack-operator is simulated. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { getString } from '../../../src/api/raw-object.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { runAndKill } from '../../killed-run.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'

const API = 'dataplane.openstack.org/v1beta1'
const clouds = ['openstack', 'openstack2']

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const secret = (within: string, text: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'nova-config', namespace: within },
  type: 'Opaque',
  data: { 'nova.conf': Buffer.from(text).toString('base64') },
})
const service = (within: string): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneService',
  metadata: { name: 'nova', namespace: within },
  spec: { edpmServiceType: 'nova', dataSources: [{ secretRef: { name: 'nova-config' } }] },
})
const nodeSet = (within: string, size: number): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'computes', namespace: within },
  spec: {
    preProvisioned: true,
    services: ['bootstrap', 'nova'],
    nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh', ansible: { ansibleUser: 'cloud-admin' } },
    nodes: Object.fromEntries(Array.from({ length: size }, (_, n) => [`compute-${n}`, { hostName: `compute-${n}` }])),
  },
})
const deployment = (within: string, name: string, spec = {}, annotations = {}): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name, namespace: within, annotations },
  spec: { nodeSets: ['computes'], ...spec },
})

describe('hosts', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: '18.0-fr6' })
  let actors: RunningActors | undefined
  let folder = ''
  let run: ReturnType<typeof runCommands>

  const apply = (object: KubeObject) => cluster.client.apply(object, { fieldManager: 'administrator', force: true })
  const verdicts = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { out } = await run('hosts', '-o', 'json', ...words)
    const { hosts } = JSON.parse(out) as { readonly hosts: readonly Readonly<Record<string, string>>[] }
    return hosts.map((state) => `${state['namespace']}/${state['host']} ${state['verdict']}`)
  }
  const expectVerdicts = (expected: readonly string[], ...words: readonly string[]) =>
    vi.waitFor(async () => expect(await verdicts(...words)).toEqual(expected), { timeout: 120_000, interval: 300 })

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stackloom-hosts-'))
    run = runCommands(folder, cluster)
    await prepareCluster(cluster.client, [])
    actors = startActors(cluster.connection, ['openstack'])
    for (const within of clouds) {
      await apply(namespace(within))
      for (const object of [secret(within, 'old'), service(within), nodeSet(within, 3)]) await apply(object)
    }
  }, 600_000)
  afterAll(async () => {
    await actors?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('are never deployed at first, and current after a deployment, in each cloud separately', async () => {
    await expectVerdicts(clouds.flatMap((within) => [0, 1, 2].map((n) => `${within}/compute-${n} never`)))
    await apply(deployment('openstack', 'first'))
    await expectVerdicts([
      ...[0, 1, 2].map((n) => `openstack/compute-${n} current`),
      ...[0, 1, 2].map((n) => `openstack2/compute-${n} never`),
    ])
  })

  it('are behind after a Secret changed, and a limited deployment brings only its hosts level', async () => {
    await apply(secret('openstack', 'new'))
    const { out } = await run('hosts', '-n', 'openstack', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({
      hosts: [0, 1, 2].map(() => ({
        verdict: 'behind',
        changes: [{ kind: 'Secret', name: 'nova-config', change: 'changed', services: ['nova'] }],
      })),
    })
    await apply(deployment('openstack', 'limited', { ansibleLimit: 'compute-1' }))
    await expectVerdicts(
      ['openstack/compute-0 behind', 'openstack/compute-1 current', 'openstack/compute-2 behind'],
      '-n',
      'openstack',
    )
  })

  it('are brought level by hosts deploy, exactly those that are behind', async () => {
    const preview = await run('hosts', 'deploy', '--behind', '-n', 'openstack', '--dry-run', '-o', 'json')
    expect(preview.code).toBe(0)
    const [planned] = (JSON.parse(preview.out) as { readonly deployments: readonly KubeObject[] }).deployments
    expect(planned?.['spec']).toEqual({ nodeSets: ['computes'], ansibleLimit: 'compute-0,compute-2' })
    const refused = await run('hosts', 'deploy', '--behind', '-n', 'openstack')
    expect([refused.code, /SL4105/.test(refused.err)]).toEqual([1, true])
    const done = await run('hosts', 'deploy', '--behind', '-n', 'openstack', '--yes', '--events', 'lines')
    expect([done.code, done.err]).toEqual([0, expect.stringContaining('compute-0, compute-2')])
    await expectVerdicts(
      [0, 1, 2].map((n) => `openstack/compute-${n} current`),
      '-n',
      'openstack',
    )
    const again = await run('hosts', 'deploy', '--behind', '-n', 'openstack', '--yes')
    expect([again.code, again.out]).toEqual([0, 'no hosts to deploy\n'])
  })

  it('are brought level by one deployment, however often hosts deploy is killed', async () => {
    const own = async (): Promise<number> =>
      (
        await cluster.client.list(
          { apiVersion: API, kind: 'OpenStackDataPlaneDeployment' },
          { namespace: 'openstack', labelSelector: 'stackloom.dev/hosts' },
        )
      ).items.length
    const before = await own()
    await apply(secret('openstack', 'newer'))
    const words = ['hosts', 'deploy', '--behind', '-n', 'openstack', '--yes', '--events', 'jsonl']
    // Each run reaches further than the one before, until one is not killed.
    for (let lines = 1, ended = false; !ended; lines += count({ test: 4, soak: 1 })) {
      const { code, said } = await runAndKill([...words, '--kubeconfig', cluster.kubeconfig], lines, folder)
      ended = code !== null
      if (ended) expect(code, said).toBe(0)
      expect(await own()).toBeLessThanOrEqual(before + 1)
    }
    expect(await own()).toBe(before + 1)
    await expectVerdicts(
      [0, 1, 2].map((n) => `openstack/compute-${n} current`),
      '-n',
      'openstack',
    )
  })

  it('are named by a failed deployment, and repaired by hosts deploy --failed under a new name', async () => {
    const annotations = { 'sandbox.stackloom.dev/fails': 'disk is full', 'sandbox.stackloom.dev/fails-on': 'compute-2' }
    await apply(deployment('openstack', 'broken', {}, annotations))
    await expectVerdicts(
      ['openstack/compute-0 current', 'openstack/compute-1 current', 'openstack/compute-2 failed'],
      '-n',
      'openstack',
    )
    const shown = await run('hosts', '-n', 'openstack')
    expect(shown.code).toBe(1)
    expect(shown.out).toMatch(/failed +broken +compute-2: failed in bootstrap of broken: disk is full/)
    const done = await run('hosts', 'deploy', '--failed', '-n', 'openstack', '--yes')
    expect(done.code).toBe(0)
    await expectVerdicts(
      [0, 1, 2].map((n) => `openstack/compute-${n} current`),
      '-n',
      'openstack',
    )
    const { items } = await cluster.client.list(
      { apiVersion: API, kind: 'OpenStackDataPlaneDeployment' },
      { namespace: 'openstack', labelSelector: 'stackloom.dev/hosts' },
    )
    expect(items.map((item) => getString(item, 'spec', 'ansibleLimit') ?? 'all').toSorted()).toEqual([
      'all',
      'compute-0,compute-2',
      'compute-2',
    ])
  })
})
