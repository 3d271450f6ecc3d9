import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { editYaml } from './edit.ts'

const text = `# our lab
metadata: {name: lab}   # do not rename
spec:
  clouds:
  # the old one
  - name: rhoso1
    namespace:   openstack  # from 2024
    networks:
  - {name: rhoso2, namespace: openstack2}
`

describe('editYaml', () => {
  it('replaces a scalar and changes nothing else, not even a space', () => {
    const edited = editYaml(text, [{ path: ['spec', 'clouds', 0, 'namespace'], value: 'prod' }])
    expect(edited).toBe(text.replace('openstack  #', 'prod  #'))
  })

  it('keeps every comment when it adds, fills and removes', () => {
    const edited = editYaml(text, [
      { path: ['spec', 'accept'], value: [{ code: 'SL2100', reason: 'known' }] },
      { path: ['spec', 'clouds', 0, 'networks', 'tenant', 'mtu'], value: 9000 },
      { path: ['spec', 'clouds', 1], value: undefined },
    ])
    for (const comment of ['# our lab', '# do not rename', '# the old one', '# from 2024']) {
      expect(edited).toContain(comment)
    }
    expect(parse(edited)).toEqual({
      metadata: { name: 'lab' },
      spec: {
        clouds: [{ name: 'rhoso1', namespace: 'openstack', networks: { tenant: { mtu: 9000 } } }],
        accept: [{ code: 'SL2100', reason: 'known' }],
      },
    })
    expect(edited).toContain('\n  - name: rhoso1\n')
  })

  it('quotes values that need it', () => {
    const edited = editYaml(text, [{ path: ['metadata', 'name'], value: 'no' }])
    expect(edited).toBe(text.replace('{name: lab}', '{name: "no"}'))
  })

  it('changes only one place when it repeats another by alias', () => {
    const shared = 'a: &a {mtu: 1500}\nb: *a\n'
    expect(parse(editYaml(shared, [{ path: ['b', 'mtu'], value: 9000 }]))).toEqual({
      a: { mtu: 1500 },
      b: { mtu: 9000 },
    })
  })
})
