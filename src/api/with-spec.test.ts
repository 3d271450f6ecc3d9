import { describe, expect, it } from 'vitest'
import { withSpec } from './with-spec.ts'

describe('withSpec', () => {
  const build = (apiVersion: string, kind: string, more: object = {}) => ({
    apiVersion,
    kind,
    metadata: { name: 'a' },
    ...more,
  })

  it('adds the spec that an object of a tenant may lack', () => {
    expect(withSpec(build('network.openstack.org/v1beta1', 'IPSet'))['spec']).toEqual({ networks: [] })
    expect(withSpec(build('dataplane.openstack.org/v1beta1', 'OpenStackDataPlaneNode'))['spec']).toEqual({})
  })

  it('leaves other objects as they are', () => {
    const secret = build('v1', 'Secret')
    expect(withSpec(secret)).toBe(secret)
    const node = build('dataplane.openstack.org/v1beta1', 'OpenStackDataPlaneNode', { spec: { role: 'r' } })
    expect(withSpec(node)).toBe(node)
  })
})
