import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { findMountedSources, hashMountedSources } from './input-hash.ts'

const extraMounts = [
  {
    volumes: [
      { name: 'ceph', secret: { secretName: 'ceph' } },
      { name: 'scratch', emptyDir: {} },
    ],
    mounts: [{ name: 'ceph', mountPath: '/etc/ceph' }],
  },
]
const env = [{ name: 'TOKEN', valueFrom: { configMapKeyRef: { name: 'settings', key: 'token' } } }]
const object = (kind: string, name: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'openstack', resourceVersion: '1' },
  data,
})
const hash = (...objects: readonly KubeObject[]): string | undefined =>
  hashMountedSources({ extraMounts, env }, ({ kind, name }) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name),
  )

describe('the mounted sources of a node', () => {
  it('are those of its mounts and its environment', () => {
    expect(findMountedSources({ extraMounts, env })).toEqual([
      { kind: 'Secret', name: 'ceph' },
      { kind: 'ConfigMap', name: 'settings' },
    ])
    expect(findMountedSources({ extraMounts: [], env: [] })).toEqual([])
  })

  it('change the hash by their content only', () => {
    const ceph = object('Secret', 'ceph', { key: 'b25l' })
    const settings = object('ConfigMap', 'settings', { token: 'x' })
    const before = hash(ceph, settings)
    expect(hash({ ...ceph, metadata: { ...ceph.metadata, resourceVersion: '2' } }, settings)).toBe(before)
    expect(hash(object('Secret', 'ceph', { key: 'dHdv' }), settings)).not.toBe(before)
    expect(hash(ceph, object('ConfigMap', 'settings', { token: 'y' }))).not.toBe(before)
    expect(hash(ceph)).not.toBe(before)
  })

  it('have no hash when there are none', () => {
    expect(hashMountedSources({ extraMounts: [], env: [] }, () => undefined)).toBeUndefined()
    const plain = [{ name: 'A', value: '1' }]
    expect(hashMountedSources({ extraMounts: [], env: plain }, () => undefined)).toBeUndefined()
  })
})
