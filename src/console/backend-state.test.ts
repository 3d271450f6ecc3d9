import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot, type UnreadKind } from '../api/snapshot.ts'
import { createLiveState } from './backend-state.ts'
import type { LiveSource } from './live-source.ts'

const controlPlane = (namespace: string, status: string): KubeObject => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'controlplane', namespace, uid: namespace, generation: 1 },
  status: { observedGeneration: 1, conditions: [{ type: 'Ready', status, severity: 'Info', message: 'is starting' }] },
})

const inventory: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'inventory', namespace: 'stackloom-system', labels: { 'stackloom.dev/inventory': 'cloud-a' } },
  data: { site: 'site', namespace: 'first', objects: '[]' },
}

function openState(objects: KubeObject[], unread: readonly UnreadKind[] = []) {
  const source: Pick<LiveSource, 'index' | 'objects' | 'unread' | 'mayRead'> = {
    index: () => indexSnapshot({ objects, unread }),
    objects: () => objects,
    unread: () => unread,
    mayRead: () => true,
  }
  const state = createLiveState(source as LiveSource, () => new Map([['second', 'b']]), Date.now)
  state.load()
  const clouds = () =>
    state.site().groups.map(({ cloud, objects: [first] }) => [cloud, first?.name, first?.readiness.kind])
  return { state, clouds }
}

describe('a cloud without an inventory, as Argo CD or another tool deploys it', () => {
  it('is known by its control plane, beside clouds that have one', () => {
    const objects = [inventory, controlPlane('first', 'True'), controlPlane('second', 'True')]
    expect(openState(objects).clouds()).toEqual([
      ['a', undefined, undefined],
      ['b', 'OpenStackControlPlane second/controlplane', 'ready'],
    ])
  })

  it('is known from a dump without ConfigMaps, by its namespace where no plan names it', () => {
    const unread = [{ apiVersion: 'v1', kind: 'ConfigMap', reason: 'not dumped', cause: 'not-dumped' as const }]
    expect(openState([controlPlane('third', 'False')], unread).clouds()).toEqual([
      ['b', undefined, undefined],
      ['third', 'OpenStackControlPlane third/controlplane', 'progressing'],
    ])
  })

  it('appears when its control plane is created, and leaves with it', () => {
    const objects: KubeObject[] = []
    const { state, clouds } = openState(objects)
    expect(clouds()).toEqual([])
    const created = controlPlane('third', 'False')
    objects.push(created)
    state.change(created, false)
    expect(clouds()).toEqual([['third', 'OpenStackControlPlane third/controlplane', 'progressing']])
    const ready = controlPlane('third', 'True')
    objects[0] = ready
    state.change(ready, false)
    expect(clouds()).toEqual([['third', 'OpenStackControlPlane third/controlplane', 'ready']])
    objects.pop()
    state.change(ready, true)
    expect(clouds()).toEqual([])
  })
})
