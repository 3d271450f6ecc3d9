import { describe, expect, it } from 'vitest'
import { changed, healthySnapshot, renderedDocuments, withObject } from '../../test/healthy-snapshot.ts'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import { capacityFindings, countVolumes, parseQuantity, takenVipFindings } from './capacity.ts'

function siteOf(clouds: number, hosts = 0) {
  return testPlan({
    nodes: 1,
    clouds: Array.from({ length: clouds }, (_, index) => ({
      name: `rhoso${index + 1}`,
      namespace: `openstack${index + 1}`,
      ...(index === 0 && { hosts: Array.from({ length: hosts }, (_h, host) => ({ name: `compute-${host}` })) }),
    })),
  })
}

const two = siteOf(2)
const healthy = healthySnapshot(two)

function messages(plan: ReturnType<typeof siteOf>, snapshot: Snapshot): readonly string[] {
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  const request = { nodes, clouds: plan.clouds, documents: renderedDocuments(plan) }
  return capacityFindings(request, indexSnapshot(snapshot)).map(({ message }) => message)
}

function smaller(allocatable: Record<string, string>): Snapshot {
  return changed(healthy, 'Node worker-0', (node) => ({ ...node, status: { allocatable } }))
}

function pod(namespace: string, memory: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'big', namespace },
    spec: { nodeName: 'worker-0', containers: [{ resources: { requests: { memory, cpu: '100m' } } }] },
    status: { phase: 'Running' },
  }
}

describe('node capacity', () => {
  it('reports nothing for a large node', () => {
    expect(messages(two, healthy)).toEqual([])
  })

  it('reports too little memory for two control planes on a small node', () => {
    expect(messages(two, smaller({ cpu: '16', memory: '24Gi' }))).toEqual([
      '2 control planes use about 31 GiB of memory, but the nodes have only 24 GiB free',
    ])
  })

  it('reports too little CPU', () => {
    expect(messages(two, smaller({ cpu: '800m', memory: '256Gi' }))).toEqual([
      '2 control planes use about 0.9 CPUs when idle, but the nodes have only 0.8 free',
    ])
  })

  it('subtracts the requests of pods outside the clouds only', () => {
    const taken = '2 control planes use about 31 GiB of memory, but the nodes have only 16 GiB free'
    expect(messages(two, withObject(healthy, pod('shop', '240Gi')))).toEqual([taken])
    expect(messages(two, withObject(healthy, pod('openstack1', '240Gi')))).toEqual([])
  })

  it('is not checked when the nodes report no capacity', () => {
    expect(messages(two, smaller({}))).toEqual([])
  })
})

describe('volumes', () => {
  const fixed = withObject(healthy, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local-storage' },
    provisioner: 'kubernetes.io/no-provisioner',
  })

  it('are counted per replica of the control planes', () => {
    const [[name, count] = []] = countVolumes(renderedDocuments(siteOf(1)).map(({ object }) => object))
    // Two databases and two OVN databases with one replica each, image storage, two message queues.
    expect([name, count]).toEqual(['local-storage', 7])
  })

  it('are too few when the class has no provisioner', () => {
    expect(messages(two, fixed)).toEqual([
      'the clouds need 14 volumes of class local-storage, which has no provisioner, but only 0 are available',
    ])
  })

  it('are enough when they are free or bound by the clouds', () => {
    const volumes = Array.from({ length: 14 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `pv-${index}` },
      spec: { storageClassName: 'local-storage', ...(index < 5 && { claimRef: { namespace: 'openstack1' } }) },
      status: { phase: index < 5 ? 'Bound' : 'Available' },
    }))
    expect(messages(two, { ...fixed, objects: [...fixed.objects, ...volumes] })).toEqual([])
    expect(messages(two, { ...fixed, objects: [...fixed.objects, ...volumes.slice(1)] })).toHaveLength(1)
  })
})

describe('limits', () => {
  it('warn above five clouds and 250 hosts', () => {
    const empty = { objects: [], unread: [] }
    expect(messages(siteOf(5, 250), empty)).toEqual([])
    expect(messages(siteOf(6, 251), empty)).toEqual([
      'the site has 6 clouds; up to 5 on one cluster are supported',
      'the site has 251 data plane hosts; up to 250 are supported',
    ])
  })
})

it.each([
  ['500m', 0.5],
  ['16Gi', 2 ** 34],
  ['10G', 1e10],
  ['4', 4],
  ['1e3', 1000],
  ['many', undefined],
])('parses the quantity %s as %s', (text, number) => {
  expect(parseQuantity(text)).toBe(number)
})

describe('addresses for Services', () => {
  const holds = (address: string): Snapshot =>
    withObject(healthy, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: [{ ip: address }] } },
    })
  const taken = (snapshot: Snapshot) => takenVipFindings(two.clouds, indexSnapshot(snapshot))

  it('are free when only the clouds themselves use them', () => {
    expect(taken(healthy)).toEqual([])
    expect(taken(holds('172.17.0.90'))).toEqual([])
  })

  it('are reported when a Service of another namespace has a planned VIP', () => {
    const [found, ...more] = taken(holds('172.17.0.85'))
    expect(more).toEqual([])
    expect(found).toMatchObject({ code: 'SL9205', where: { kind: 'Service', namespace: 'shop', name: 'web' } })
    expect(found?.message).toBe(
      '172.17.0.85 is planned for rabbitmq.rabbitmq of rhoso1/internalapi, but Service shop/web has it',
    )
  })
})
