import { describe, expect, it } from 'vitest'
import { selectClouds, selectOneCloud } from './deployment.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

describe('the selected clouds', () => {
  it('are those of --cloud and the one in the namespace of -n', () => {
    expect(selectClouds(clouds, {})).toEqual([])
    expect(selectClouds(clouds, { namespace: 'openstack2' })).toEqual(['rhoso2'])
    expect(selectClouds(clouds, { cloud: ['rhoso1'], namespace: 'openstack2' })).toEqual(['rhoso1', 'rhoso2'])
    expect(selectClouds(clouds, { cloud: ['rhoso2'], namespace: 'openstack2' })).toEqual(['rhoso2'])
  })

  it('are never all clouds because of a wrong name', () => {
    expect(() => selectClouds(clouds, { cloud: ['openstack'] })).toThrow('SL4002: the site has no cloud openstack')
    expect(() => selectClouds(clouds, { namespace: 'openstck2' })).toThrow(
      'SL4002: the site has no cloud in namespace openstck2; did you mean openstack2?',
    )
  })

  it('are exactly one for a command on one cloud', () => {
    expect(selectOneCloud(clouds, { namespace: 'openstack2' }, 'stackloom adopt')).toBe(clouds[1])
    expect(() => selectOneCloud(clouds, {}, 'stackloom adopt')).toThrow('name a cloud with --cloud or -n')
    expect(() => selectOneCloud(clouds, { cloud: 'rhoso1', namespace: 'openstack2' }, 'stackloom adopt')).toThrow(
      '--cloud and -n name two clouds',
    )
  })
})
