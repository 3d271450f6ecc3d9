import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { computeStatus, parseInventories, statusKinds } from './deployment-status.ts'
import { type Inventory, renderInventory } from './inventory.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const pool = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  namespace: 'metallb-system',
  name: 'openstack-storage',
}
const rhoso1: Inventory = {
  site: 'lab',
  cloud: 'rhoso1',
  namespace: 'openstack',
  objects: [
    { apiVersion: 'v1', kind: 'Namespace', name: 'openstack' },
    pool,
    { apiVersion: 'v1', kind: 'Secret', namespace: 'openstack', name: 'osp-secret' },
  ],
}
const shared: Inventory = { site: 'lab', objects: [] }
const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'openstack' },
  status: { phase: 'Active' },
}
const service = (within: string, ip?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'keystone-internal', namespace: within },
  spec: { type: 'LoadBalancer' },
  status: { loadBalancer: { ...(ip !== undefined && { ingress: [{ ip }] }) } },
})

describe('computeStatus', () => {
  const judge = (objects: readonly KubeObject[], inventories = [rhoso1, shared]) =>
    computeStatus(inventories, { objects, unread: [] }, NOW)

  it('needs the inventories only, and has the shared objects first', () => {
    const objects = [rhoso1, shared].map(renderInventory)
    const other = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace: 'stackloom-system' },
    }
    const found = parseInventories({ objects: [...objects, other], unread: [] })
    expect(found).toHaveLength(2)
    expect(judge([], [...found]).map(({ cloud }) => cloud)).toEqual([undefined, 'rhoso1'])
  })

  it('needs every listed kind and those that operators create, but no Secrets', () => {
    const kinds = statusKinds([rhoso1]).map(formatGroupKind)
    expect(kinds).toContain('metallb.io/IPAddressPool')
    expect(kinds).toContain('Service')
    expect(kinds).not.toContain('Secret')
    expect(new Set(kinds).size).toBe(kinds.length)
  })

  it('waits for a listed object that does not exist', () => {
    const [, cloud] = judge([namespace])
    expect(cloud?.objects).toEqual([
      { name: 'Namespace openstack', readiness: { kind: 'ready' } },
      {
        name: 'IPAddressPool metallb-system/openstack-storage',
        readiness: { kind: 'progressing', waits: expect.stringContaining('to exist') },
      },
    ])
  })

  it("judges objects of operators in the cloud's namespace only", () => {
    const [, cloud] = judge([namespace, service('openstack'), service('openstack2')])
    const created = cloud?.objects.filter(({ name }) => name.startsWith('Service'))
    expect(created).toMatchObject([{ name: 'Service openstack/keystone-internal', readiness: { kind: 'progressing' } }])
    const [, fine] = judge([namespace, service('openstack', '172.17.0.80')])
    expect(fine?.objects.at(-1)?.readiness).toEqual({ kind: 'ready' })
  })
})
