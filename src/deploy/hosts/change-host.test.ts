/** The cloud is simulated (`test/openstack-server.ts`), and the cluster is in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { type MemoryCluster, memoryCluster } from '../../../test/memory-cluster.ts'
import { type SimulatedCloud, simulatedInstance, startSimulatedCloud } from '../../../test/openstack-server.ts'
import type { KubeObject } from '../../api/object.ts'
import { getField } from '../../api/raw-object.ts'
import type { KubeClient } from '../../kube/client.ts'
import { openComputeHost } from '../../openstack/compute-host.ts'
import { openSession } from '../../openstack/session.ts'
import { openLiveView } from '../live-view.ts'
import { type ChangeHostReport, changeHost } from './change-host.ts'
import type { HostAction } from './host-change.ts'

const API = 'dataplane.openstack.org/v1beta1'
const NETWORK = 'network.openstack.org/v1beta1'
const hosts = ['compute-0', 'compute-1']
const object = (apiVersion: string, kind: string, name: string, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'openstack' },
  spec,
})

let cloud: SimulatedCloud
let cluster: MemoryCluster
/** What the deployment that stops the services ends with. */
let stopFails: boolean
beforeEach(async () => {
  cloud = await startSimulatedCloud(hosts)
  cluster = memoryCluster()
  stopFails = false
  cloud.instances.push(
    simulatedInstance('web', 'compute-0'),
    simulatedInstance('db', 'compute-0', { status: 'SHUTOFF' }),
  )
  const nodes = Object.fromEntries(hosts.map((host) => [host, { hostName: host }]))
  const services = ['nova', 'ssh-known-hosts']
  for (const created of [
    object(API, 'OpenStackDataPlaneNodeSet', 'computes', { nodes, services }),
    object(NETWORK, 'IPSet', 'compute-0', {}),
    object(NETWORK, 'Reservation', 'compute-0', {}),
    object(NETWORK, 'DNSData', 'computes', { hosts: [{ hostnames: ['compute-1.ctlplane.example.com'] }] }),
  ])
    await cluster.client.create(created)
})
afterEach(() => cloud.close())

/** A client with an operator behind it: deployments end at once, and the host's agents stop with its services. */
function operatedClient(): KubeClient {
  const { client } = cluster
  return {
    ...client,
    apply: async (applied, options) => {
      if (applied.kind !== 'OpenStackDataPlaneDeployment') return client.apply(applied, options)
      const isStop = applied.metadata.name === 'stop-compute-0'
      if (isStop && !stopFails) for (const agent of cloud.agents) if (agent.host === 'compute-0') agent.alive = false
      const ready = { type: 'Ready', status: 'True' }
      const failed = {
        type: 'Ready',
        status: 'False',
        severity: 'Error',
        reason: 'Error',
        message: 'a task failed',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }
      const status =
        isStop && stopFails ? { observedGeneration: 1, conditions: [failed] } : { deployed: true, conditions: [ready] }
      return client.apply({ ...applied, status }, options)
    },
  }
}

interface Settings {
  readonly action?: HostAction
  readonly drain?: boolean
  readonly isOff?: boolean
  /** The run is stopped at this request to the cloud. */
  readonly stopAt?: number
}

async function change({
  action = 'remove',
  drain = true,
  isOff = false,
  stopAt,
}: Settings = {}): Promise<ChangeHostReport> {
  const stopping = new AbortController()
  const from = cloud.requests.length
  cloud.onRequest = (sent) => {
    if (sent - from === stopAt) stopping.abort()
  }
  const session = await openSession({
    authUrl: cloud.url,
    user: 'admin',
    password: 's3cret',
    project: 'admin',
    interface: 'public',
    guard: () => stopping.signal.throwIfAborted(),
    signal: stopping.signal,
  })
  const client = operatedClient()
  const view = openLiveView(client)
  try {
    return await changeHost({
      action,
      cloud: 'rhoso1',
      namespace: 'openstack',
      host: 'compute-0',
      client,
      view,
      api: openComputeHost(session, 'compute-0'),
      drain,
      isOff,
      limits: { parallel: 2, instanceMs: 60_000, pollMs: 1 },
      run: 'test',
      sink: () => undefined,
      stop: stopping.signal,
    })
  } finally {
    await view.close()
  }
}

const codes = ({ stages }: ChangeHostReport): readonly string[] =>
  stages.flatMap(({ findings }) => findings.map(({ code }) => code))
const nodes = (): readonly string[] =>
  cluster
    .objects('OpenStackDataPlaneNodeSet')
    .flatMap((nodeSet) => Object.keys(getField(nodeSet, 'spec', 'nodes') as object))

function expectRemoved({ outcome, proof }: ChangeHostReport): void {
  expect(outcome).toBe('done')
  expect(proof.map(({ isGone }) => isGone)).toEqual([true, true, true, true, true, true])
  expect(nodes()).toEqual(['compute-1'])
  for (const kind of ['IPSet', 'Reservation', 'OpenStackDataPlaneDeployment', 'OpenStackDataPlaneService'])
    expect(cluster.objects(kind)).toEqual([])
  expect(cloud.services.map(({ host }) => host)).toEqual(['compute-1'])
  expect(new Set(cloud.agents.map(({ host }) => host))).toEqual(new Set(['compute-1']))
  expect(cloud.providers.map(({ name }) => name)).toEqual(['compute-1'])
  expect(cloud.instances.map(({ host, status }) => `${host} ${status}`)).toEqual([
    'compute-1 ACTIVE',
    'compute-1 SHUTOFF',
  ])
}

describe('changeHost', () => {
  it('takes a host out and proves that nothing is left', async () => {
    expectRemoved(await change())
  })

  it('does nothing to a host that is gone', async () => {
    await change()
    const before = cloud.requests.length
    expectRemoved(await change())
    expect(cloud.requests.slice(before).every((request) => request.startsWith('GET'))).toBe(true)
  })

  it('goes on after an interruption at any request to the cloud', async () => {
    let stopped = 0
    const step = count({ test: 7, soak: 1 })
    for (let stopAt = 1; ; stopAt += step) {
      const first = await change({ stopAt }).catch(() => undefined)
      if (first?.outcome === 'done') break
      stopped += 1
      expectRemoved(await change())
      await rebuild()
    }
    expect(stopped * step).toBeGreaterThan(15)
  }, 120_000)

  it('stops at instances without --drain, before anything is deleted', async () => {
    const report = await change({ drain: false })
    expect(report.outcome).toBe('failed')
    expect(codes(report)).toEqual(['SL7203'])
    expect(cloud.services[0]).toMatchObject({ status: 'disabled' })
    expect(nodes()).toEqual(hosts)
  })

  it('keeps everything when the services cannot be stopped, and replaces the failed deployment next time', async () => {
    stopFails = true
    expect((await change()).outcome).toBe('failed')
    expect(cloud.services).toHaveLength(2)
    expect(nodes()).toEqual(hosts)
    stopFails = false
    expectRemoved(await change())
  })

  it('runs no Ansible on a host that is off', async () => {
    for (const agent of cloud.agents) if (agent.host === 'compute-0') agent.alive = false
    expectRemoved(await change({ isOff: true }))
    expect(cluster.requests.some((request) => request.includes('stop-compute-0'))).toBe(false)
  })

  it('refuses to empty a node set', async () => {
    const [nodeSet] = cluster.objects('OpenStackDataPlaneNodeSet')
    if (nodeSet) await cluster.client.update({ ...nodeSet, spec: { nodes: { 'compute-0': {} }, services: [] } })
    expect(codes(await change())).toEqual(['SL7206'])
  })

  it('takes its names from what `up` made, and no others', async () => {
    const entry = (host: string) => ({ hostnames: [`${host}.ctlplane.example.com`], ip: '192.0.2.1' })
    const made = object(NETWORK, 'DNSData', 'data-plane-hosts', { hosts: ['compute-0', 'compute-1'].map(entry) })
    const labels = { 'app.kubernetes.io/managed-by': 'stackloom' }
    await cluster.client.create({ ...made, metadata: { ...made.metadata, labels } })
    expectRemoved(await change())
    const kept = cluster.objects('DNSData').find(({ metadata }) => metadata.name === 'data-plane-hosts')
    expect(kept).toMatchObject({ spec: { hosts: [entry('compute-1')] } })
  })

  it('reports what is left', async () => {
    await cluster.client.create(
      object(NETWORK, 'DNSData', 'manual', { hosts: [{ hostnames: ['compute-0.example.com'] }] }),
    )
    const report = await change()
    expect(codes(report)).toEqual(['SL7209'])
    expect(report.proof.filter(({ isGone }) => !isGone)).toMatchObject([{ what: 'names', evidence: 'DNSData manual' }])
  })

  it('drains a host for maintenance, and enables it again', async () => {
    expect((await change({ action: 'drain' })).outcome).toBe('done')
    expect(cloud.instances.every(({ host }) => host === 'compute-1')).toBe(true)
    expect(cloud.services[0]).toMatchObject({ status: 'disabled', disabled_reason: 'stackloom hosts drain' })
    expect((await change({ action: 'enable' })).outcome).toBe('done')
    expect(cloud.services[0]?.status).toBe('enabled')
    expect(nodes()).toEqual(hosts)
  })

  it('reports an API that fails as a finding', async () => {
    await cloud.close()
    const other = await startSimulatedCloud([])
    cloud = other
    const report = await change({ action: 'enable' })
    expect(codes(report)).toEqual(['SL7208'])
  })

  /** The host as before, for the next interruption. */
  async function rebuild(): Promise<void> {
    await cloud.close()
    cloud = await startSimulatedCloud(hosts)
    cloud.instances.push(
      simulatedInstance('web', 'compute-0'),
      simulatedInstance('db', 'compute-0', { status: 'SHUTOFF' }),
    )
    const [nodeSet] = cluster.objects('OpenStackDataPlaneNodeSet')
    const all = Object.fromEntries(hosts.map((host) => [host, { hostName: host }]))
    if (nodeSet)
      await cluster.client.update({ ...nodeSet, spec: { nodes: all, services: ['nova', 'ssh-known-hosts'] } })
    for (const kind of ['IPSet', 'Reservation']) await cluster.client.create(object(NETWORK, kind, 'compute-0', {}))
  }
})
