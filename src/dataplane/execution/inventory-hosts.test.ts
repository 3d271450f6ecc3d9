import { describe, expect, it } from 'vitest'
import { parseInventories, parseInventory, targetAddresses } from './inventory-hosts.ts'

const role = `edpm-compute:
    vars:
        ansible_port: 22
    hosts:
        edpm-compute-0:
            ansible_host: 192.168.122.100
        edpm-compute-1:
            ansible_host: 192.168.122.101
`

describe('inventory hosts', () => {
  it('are those of every group and its children, by name and address', () => {
    const text = `all:
  hosts: {a: {ansible_host: 192.0.2.1}, b: null}
  children: {x: {hosts: {c: {ansible_host: 192.0.2.3}, b: {ansible_host: 192.0.2.2}}}}
`
    expect(Object.entries(Object.fromEntries(parseInventory(text) ?? []))).toEqual([
      ['a', '192.0.2.1'],
      ['b', '192.0.2.2'],
      ['c', '192.0.2.3'],
    ])
  })

  it('have their addresses where these are marked as unsafe', () => {
    const text = 'all:\n  hosts:\n    a:\n      ansible_host: !unsafe "{{ x }}"\n    b: {ansible_host: 192.0.2.2}\n'
    expect([...(parseInventory(text) ?? [])]).toEqual([
      ['a', '{{ x }}'],
      ['b', '192.0.2.2'],
    ])
  })

  it('are read from INI too', () => {
    const text = '# mine\n[computes]\na ansible_host=192.0.2.1 ansible_user=root\nb\n[computes:vars]\nx=1\n'
    expect([...(parseInventory(text) ?? [])]).toEqual([
      ['a', '192.0.2.1'],
      ['b', 'b'],
    ])
  })

  it('are unknown for a host pattern, which conflicts with every other run', () => {
    expect(parseInventory('[computes]\nnode[01:50].example.com\n')).toBeUndefined()
    expect(parseInventories([role, 'node[01:50]\n'])).toBeUndefined()
    expect(targetAddresses(undefined, ['a'])).toBeUndefined()
  })

  it('are the same machine under two names with one address', () => {
    const node = 'all: {hosts: {compute-zero: {ansible_host: 192.168.122.100}}}'
    expect(targetAddresses(parseInventory(node), undefined)).toEqual(['192.168.122.100'])
    expect(targetAddresses(parseInventory(role), ['edpm-compute-0'])).toEqual(['192.168.122.100'])
  })

  it('are unknown when the limit names a group', () => {
    expect(targetAddresses(parseInventory(role), ['edpm-compute'])).toBeUndefined()
  })
})
