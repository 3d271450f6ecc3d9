import { describe, expect, it } from 'vitest'
import { changed, healthySnapshot, renderedDocuments, withObject } from '../../test/healthy-snapshot.ts'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import { capacityFindings } from './capacity.ts'
import { parseQuantity } from './room/quantity.ts'
import { countVolumes } from './room/volumes.ts'
import { takenVipFindings } from './vip-capacity.ts'

function siteOf(clouds: number, hosts = 0) {
  return testPlan({
    nodes: 1,
    clouds: Array.from({ length: clouds }, (_, at) => ({
      name: `rhoso${at + 1}`,
      namespace: `openstack${at + 1}`,
      ...(at === 0 && { hosts: Array.from({ length: hosts }, (_h, host) => ({ name: `compute-${host}` })) }),
    })),
  })
}

const two = siteOf(2)
const healthy = healthySnapshot(two)

function messages(plan: ReturnType<typeof siteOf>, snapshot: Snapshot): readonly string[] {
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  const wish = { nodes, clouds: plan.clouds, documents: renderedDocuments(plan) }
  return capacityFindings(wish, indexSnapshot(snapshot)).map(({ message }) => message)
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

describe('room on the nodes', () => {
  it('is enough on a large node, and nobody says anything', () => {
    expect(messages(two, healthy)).toEqual([])
  })

  it('is too little memory for two control planes on a small one', () => {
    expect(messages(two, smaller({ cpu: '16', memory: '24Gi' }))).toEqual([
      '2 control planes use about 31 GiB of memory, and the nodes have 24 GiB for them',
    ])
  })

  it('is too little CPU', () => {
    expect(messages(two, smaller({ cpu: '800m', memory: '256Gi' }))).toEqual([
      '2 control planes use about 0.9 CPUs when idle, and the nodes have 0.8 for them',
    ])
  })

  it('is what others have left; the pods of the clouds themselves are not counted twice', () => {
    const taken = '2 control planes use about 31 GiB of memory, and the nodes have 16 GiB for them'
    expect(messages(two, withObject(healthy, pod('shop', '240Gi')))).toEqual([taken])
    expect(messages(two, withObject(healthy, pod('openstack1', '240Gi')))).toEqual([])
  })

  it('is not judged where the nodes tell nothing', () => {
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

  it('are counted off the control planes, one for each replica', () => {
    const [[name, count] = []] = countVolumes(renderedDocuments(siteOf(1)).map(({ object }) => object))
    // Two databases and OVN's two, each with a replica on the one node; images; two message queues.
    expect([name, count]).toEqual(['local-storage', 7])
  })

  it('are too few where the class makes none by itself', () => {
    expect(messages(two, fixed)).toEqual([
      'the clouds need 14 volumes of class local-storage, which makes none by itself, and 0 are free or theirs',
    ])
  })

  it('are enough when they are there, free or already theirs', () => {
    const volumes = Array.from({ length: 14 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `pv-${at}` },
      spec: { storageClassName: 'local-storage', ...(at < 5 && { claimRef: { namespace: 'openstack1' } }) },
      status: { phase: at < 5 ? 'Bound' : 'Available' },
    }))
    expect(messages(two, { ...fixed, objects: [...fixed.objects, ...volumes] })).toEqual([])
    expect(messages(two, { ...fixed, objects: [...fixed.objects, ...volumes.slice(1)] })).toHaveLength(1)
  })
})

describe('limits', () => {
  it('are five clouds and 250 hosts: one more is a warning', () => {
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
])('%s is %s', (text, number) => {
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

  it('are not taken by the clouds themselves, nor by others outside the plan', () => {
    expect(taken(healthy)).toEqual([])
    expect(taken(holds('172.17.0.90'))).toEqual([])
  })

  it('are taken when another namespace holds a planned VIP: who, and whose Services would stay pending', () => {
    const [found, ...more] = taken(holds('172.17.0.85'))
    expect(more).toEqual([])
    expect(found).toMatchObject({
      code: 'SL9205',
      where: { kind: 'Service', namespace: 'shop', name: 'web' },
    })
    expect(found?.message).toBe(
      'rhoso1/internalapi plans 172.17.0.85 for rabbitmq.rabbitmq, and Service shop/web holds it',
    )
  })
})
