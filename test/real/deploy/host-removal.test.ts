/**
 * Tests how a host is drained and taken out of a cloud, on a real API server with the CRDs of the newest release. openstack-operator
 * and the APIs of OpenStack are simulated (`test/openstack-server.ts`).
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { getField } from '../../../src/api/raw-object.ts'
import { main } from '../../../src/cli/main.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { typeDocCommand } from '../../doc-sandboxes.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { runAndKill } from '../../killed-run.ts'
import { type SimulatedCloud, simulatedInstance, startSimulatedCloud } from '../../openstack-server.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'

const NAMESPACE = 'openstack'
const DATA_PLANE = 'dataplane.openstack.org/v1beta1'
const NETWORK = 'network.openstack.org/v1beta1'
const NODE_SET = { apiVersion: DATA_PLANE, kind: 'OpenStackDataPlaneNodeSet', namespace: NAMESPACE, name: 'computes' }
const DEPLOYMENT = { apiVersion: DATA_PLANE, kind: 'OpenStackDataPlaneDeployment' }
const hosts = ['compute-0', 'compute-1', 'compute-2']
const fullName = (host: string): string => `${host}.ctlplane.example.com`
const object = (apiVersion: string, kind: string, name: string, fields: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: NAMESPACE },
  ...fields,
})
const kills = count({ test: 1, soak: 20 })

describe('taking a host out', { timeout: 600_000 + kills * 120_000 }, () => {
  const cluster = useCluster({ crds: '18.0-fr6', controllerManager: true })
  const folder = useFolder()
  let actors: RunningActors | undefined
  let cloud: SimulatedCloud
  let watching = true
  let run: ReturnType<typeof runCommands>

  const apply = (desired: KubeObject) => cluster.client.apply(desired, { fieldManager: 'administrator', force: true })

  beforeAll(async () => {
    run = runCommands(folder, cluster)
    await prepareCluster(cluster.client, [])
    actors = startActors(cluster.connection, ['openstack'])
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  }, 600_000)
  afterAll(async () => {
    watching = false
    await actors?.stop()
    await cloud?.close()
  })

  /** A cloud with three hosts and instances on each, as after a deployment. */
  const furnish = async (): Promise<void> => {
    await cloud?.close()
    cloud = await startSimulatedCloud(hosts.map(fullName))
    const instances = ['web', 'db', 'batch'].map((name, index) =>
      simulatedInstance(name, fullName('compute-0'), index === 2 ? { status: 'SHUTOFF' } : {}),
    )
    cloud.instances.push(...instances, simulatedInstance('other', fullName('compute-1')))
    const config = (auth: object): string => `${JSON.stringify({ clouds: { default: { auth } } })}\n`
    const login = { auth_url: cloud.url, project_name: 'admin', username: 'admin' }
    await apply(object('v1', 'ConfigMap', 'openstack-config', { data: { 'clouds.yaml': config(login) } }))
    const secure = { 'secure.yaml': config({ password: 's3cret' }) }
    await apply(object('v1', 'Secret', 'openstack-config-secret', { stringData: secure }))
    await apply(
      object(DATA_PLANE, 'OpenStackDataPlaneNodeSet', 'computes', {
        spec: {
          preProvisioned: true,
          services: ['bootstrap', 'nova', 'ssh-known-hosts'],
          nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh', ansible: { ansibleUser: 'cloud-admin' } },
          nodes: Object.fromEntries(hosts.map((host) => [host, { hostName: host }])),
        },
      }),
    )
    const network = { name: 'ctlplane', subnetName: 'subnet1' }
    await apply(object(NETWORK, 'IPSet', 'compute-0', { spec: { networks: [network] } }))
    const reserved = { network: 'ctlplane', subnet: 'subnet1', address: '192.168.122.100' }
    await apply(
      object(NETWORK, 'Reservation', 'compute-0', { spec: { ipSetRef: {}, reservation: { ctlplane: reserved } } }),
    )
    void stopAgentsWhenStopped(cloud)
  }
  beforeEach(furnish)

  /** What the playbook does on the host: its agents no longer report. */
  async function stopAgentsWhenStopped(current: SimulatedCloud): Promise<void> {
    while (watching && current === cloud) {
      const stopped = await cluster.client
        .get({ ...DEPLOYMENT, namespace: NAMESPACE, name: 'stop-compute-0' })
        .catch(() => undefined)
      if (stopped && getField(stopped, 'status', 'deployed') === true) {
        for (const agent of current.agents) if (agent.host === fullName('compute-0')) agent.alive = false
        for (const service of current.services) if (service.host === fullName('compute-0')) service.state = 'down'
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  /** The reader types the name of the host. */
  const runWithConsent = (...words: readonly string[]) => run(...words, '--yes')
  const runWithoutCluster = async (...words: readonly string[]) => {
    const io = testIo({ cwd: folder })
    return { code: await main(words, io), out: io.out(), err: io.err() }
  }

  const nodes = async (): Promise<readonly string[]> =>
    Object.keys((getField(await cluster.client.get(NODE_SET), 'spec', 'nodes') ?? {}) as object)
  const expectRemoved = async (): Promise<void> => {
    expect(await nodes()).toEqual(['compute-1', 'compute-2'])
    for (const kind of ['IPSet', 'Reservation'])
      expect(
        await cluster.client.get({ apiVersion: NETWORK, kind, namespace: NAMESPACE, name: 'compute-0' }),
      ).toBeUndefined()
    expect(cloud.services.map(({ host }) => host)).toEqual(['compute-1', 'compute-2'].map(fullName))
    expect(cloud.agents.filter(({ host }) => host === fullName('compute-0'))).toEqual([])
    expect(cloud.providers.map(({ name }) => name)).toEqual(['compute-1', 'compute-2'].map(fullName))
    expect(cloud.instances.filter(({ host }) => host === fullName('compute-0'))).toEqual([])
    expect(cloud.instances.map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE', 'SHUTOFF', 'ACTIVE'])
    expect(
      (await cluster.client.list(DEPLOYMENT, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.name),
    ).toEqual([])
  }

  it('only shows what would happen with --dry-run', async () => {
    const text = 'stackloom hosts remove compute-0 --drain --dry-run'
    const { out } = await typeDocCommand('removal', text, (...words) => run(...words, '-o', 'json'))
    const { steps } = JSON.parse(out) as {
      readonly steps: readonly { readonly stage: string; readonly what: string }[]
    }
    expect(steps.find(({ stage }) => stage === 'drain')?.what).toContain('migrate 3: web (ACTIVE)')
    expect(await nodes()).toEqual(hosts)
    expect(cloud.requests.every((request) => request.startsWith('GET'))).toBe(true)
  })

  it('stops at instances without --drain, with Nova scheduling no more of them', async () => {
    const { code, err } = await run('hosts', 'remove', 'compute-0', '--yes')
    expect(code).toBe(1)
    expect(err).toContain('SL7203')
    expect(cloud.services[0]?.status).toBe('disabled')
    expect(await nodes()).toEqual(hosts)
  })

  it('drains a host for maintenance and enables it again', async () => {
    await typeDocCommand('removal', 'stackloom hosts drain compute-0 --dry-run', run)
    expect(cloud.requests.every((request) => request.startsWith('GET'))).toBe(true)
    await typeDocCommand('removal', 'stackloom hosts drain compute-0 --parallel 4', runWithConsent)
    expect(cloud.instances.filter(({ host }) => host === fullName('compute-0'))).toEqual([])
    expect(cloud.services[0]).toMatchObject({ status: 'disabled', disabled_reason: 'stackloom hosts drain' })
    await typeDocCommand('removal', 'stackloom hosts enable compute-0', run)
    expect(cloud.services[0]?.status).toBe('enabled')
    expect(await nodes()).toEqual(hosts)
  })

  it('leaves nothing of the host, and proves it', async () => {
    const text = 'stackloom hosts remove compute-0 --drain'
    const { out } = await typeDocCommand('removal', text, (...words) => runWithConsent(...words, '-o', 'json'))
    const { proof } = JSON.parse(out) as {
      readonly proof: readonly { readonly what: string; readonly isGone: boolean }[]
    }
    expect(proof.map(({ what }) => what)).toEqual([
      'compute service',
      'network agents',
      'resource provider',
      'node set',
      'addresses',
      'names',
    ])
    expect(proof.every(({ isGone }) => isGone)).toBe(true)
    await expectRemoved()
  })

  it('takes a dead machine out without its help, and frees what the lock keeps of it', async () => {
    // As after an evacuation.
    for (const instance of cloud.instances.filter(({ host }) => host === fullName('compute-0')))
      instance.host = fullName('compute-1')
    for (const agent of cloud.agents) if (agent.host === fullName('compute-0')) agent.alive = false
    for (const service of cloud.services) if (service.host === fullName('compute-0')) service.state = 'down'
    const name = { apiVersion: 'stackloom.dev/v1alpha1', kind: 'Site', metadata: { name: 'lab' } }
    const nodes = [{ name: 'worker-0', nic: 'enp6s0' }]
    const site = (names: readonly string[]): string =>
      JSON.stringify({
        ...name,
        spec: {
          cluster: { nodes },
          clouds: [{ name: 'rhoso1', namespace: NAMESPACE, hosts: names.map((host) => ({ name: host })) }],
        },
      })
    const file = path.join(folder, 'site.yaml')
    await writeFile(file, site(hosts))
    expect((await runWithoutCluster('plan')).code).toBe(0)
    await typeDocCommand('removal', 'stackloom hosts remove compute-0 --off', runWithConsent)
    await expectRemoved()
    await writeFile(file, site(hosts.slice(1)))
    expect((await runWithoutCluster('plan')).code).toBe(0)
    const lock = () => readFile(path.join(folder, 'site.lock.yaml'), 'utf8')
    expect(await lock()).toContain('compute-0')
    await typeDocCommand('removal', 'stackloom plan --forget rhoso1/compute-0', runWithoutCluster)
    expect(await lock()).not.toContain('compute-0')
  })

  it('goes on after kill -9 at any point', async () => {
    const words = ['hosts', 'remove', 'compute-0', '-n', NAMESPACE, '--drain', '--yes', '--events', 'jsonl']
    const remove = (lines: number) => runAndKill([...words, '--kubeconfig', cluster.kubeconfig], lines, folder)
    const whole = await remove(Number.POSITIVE_INFINITY)
    expect(whole.code, whole.said).toBe(0)
    await expectRemoved()
    const length = whole.said.split('\n').length
    for (let done = 0; done < kills; ) {
      await furnish()
      // Runs differ in their length by what they wait for: one that ended before its moment counts as none and is repeated.
      const { code, said } = await remove(1 + Math.floor(((done + Math.random()) * (length - 1)) / kills))
      if (code === null) done += 1
      else expect(code, said).toBe(0)
      const { code: resumed, said: rest } = await remove(Number.POSITIVE_INFINITY)
      expect(resumed, `${said}\n${rest}`).toBe(0)
      await expectRemoved()
    }
  })
})
