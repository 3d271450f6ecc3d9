import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryCluster } from '../../test/memory-cluster.ts'
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { systemClock } from '../clock/clock.ts'
import type { KubeClient } from '../kube/client.ts'
import { type ClusterChange, type ClusterView, openClusterView } from './cluster-view.ts'
import type { Connection } from './documents/meta.ts'

const SERVICE = { apiVersion: 'v1', kind: 'Service' }
const POOL = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' }
const service = (name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  ...SERVICE,
  metadata: { name, namespace: 'openstack', ...more },
})

let view: ClusterView | undefined
afterEach(() => view?.close())

function open(mayList: (resource: string) => boolean = () => true) {
  const memory = memoryCluster()
  const changes: ClusterChange[] = []
  const connections: Connection['kind'][] = []
  const create: KubeClient['create'] = (object, options) => {
    if (object.kind !== 'SelfSubjectAccessReview') return memory.client.create(object, options)
    const resource = getString(object, 'spec', 'resourceAttributes', 'resource') ?? ''
    return Promise.resolve({ ...object, status: { allowed: mayList(resource) } })
  }
  const opened = openClusterView({
    client: { ...memory.client, create },
    namespaces: () => [],
    clock: systemClock,
    onChange: (change) => changes.push(change),
    onConnection: ({ kind }) => connections.push(kind),
    onListed: () => undefined,
  })
  view = opened
  return { memory, view: opened, changes, connections }
}

describe('the view of a cluster', () => {
  it('lists once, then reports every change', async () => {
    const { memory, view: opened, changes } = open()
    await memory.client.create(service('keystone-internal'))
    await opened.watch([{ kind: SERVICE }])
    expect(opened.index('openstack').all('Service')).toHaveLength(1)
    expect(changes).toEqual([])
    await memory.client.create(service('placement-internal'))
    await memory.client.delete({ ...SERVICE, namespace: 'openstack', name: 'keystone-internal' })
    await vi.waitUntil(() => changes.length === 2, { timeout: 30_000 })
    expect(changes.map(({ object, isDeleted }) => [object.metadata.name, isDeleted])).toEqual([
      ['placement-internal', false],
      ['keystone-internal', true],
    ])
    expect(memory.requests.filter((request) => request === 'list Service')).toHaveLength(1)
  })

  const managedFields = [
    { manager: 'a', operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:spec': {} } },
  ] as const

  it('keeps which fields a manager wrote of a kind whose fields are compared', async () => {
    const { memory, view: opened } = open()
    await memory.client.create({
      ...POOL,
      metadata: { name: 'internalapi', namespace: 'metallb-system', managedFields },
    })
    await opened.watch([{ kind: POOL }])
    const [stored] = opened.index().all('metallb.io/IPAddressPool')
    expect(stored?.metadata.managedFields).toEqual(managedFields)
  })

  it('keeps when a manager wrote, without the fields', async () => {
    const { memory, view: opened } = open()
    await memory.client.create(service('keystone-internal', { managedFields }))
    await opened.watch([{ kind: SERVICE }])
    const [stored] = opened.index().all('Service')
    expect(stored?.metadata.managedFields).toEqual([
      { manager: 'a', operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z' },
    ])
  })

  it('notices that the server is lost, and continues when it is back', async () => {
    const { memory, view: opened, changes, connections } = open()
    await opened.watch([{ kind: SERVICE }])
    memory.reachable(false)
    await vi.waitUntil(() => connections.includes('lost'), { timeout: 30_000 })
    expect(opened.connection()).toMatchObject({ kind: 'lost', reason: expect.stringContaining('refused') as string })
    memory.reachable(true)
    await vi.waitUntil(() => opened.connection().kind === 'connected', { timeout: 30_000 })
    await memory.client.create(service('later'))
    await vi.waitUntil(() => changes.length === 1, { timeout: 30_000 })
  })

  it('does not ask for a kind that the user may not list, and says so', async () => {
    const { memory, view: opened } = open((resource) => resource !== 'services')
    await memory.client.create(service('hidden'))
    await opened.watch([{ kind: SERVICE }, { kind: POOL }])
    expect(opened.index().all('Service')).toEqual([])
    expect(opened.mayRead('openstack')).toBe(false)
    expect(opened.unread()).toEqual([
      { ...SERVICE, cause: 'forbidden', reason: 'access denied: this user may not list services' },
    ])
    expect(memory.requests).not.toContain('list Service')
  })

  it('reads watched kinds from memory and others from the server', async () => {
    const { memory, view: opened } = open()
    await opened.watch([{ kind: SERVICE }])
    const before = memory.requests.length
    expect((await opened.reader.list(SERVICE)).items).toEqual([])
    expect(memory.requests).toHaveLength(before)
    await opened.reader.list(POOL)
    expect(memory.requests.slice(before)).toEqual(['list IPAddressPool'])
  })
})
