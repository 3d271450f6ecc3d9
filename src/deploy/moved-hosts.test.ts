import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { indexSnapshot } from '../api/snapshot.ts'
import { departures, findHostsInLeftovers, nodeSetHosts } from './moved-hosts.ts'
import type { ObjectChange } from './object-changes.ts'

const nodeSet = (name: string, ...hosts: readonly string[]): KubeObject => ({
  apiVersion: 'dataplane.openstack.org/v1beta1',
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name, namespace: 'openstack' },
  spec: { services: ['nova'], nodes: Object.fromEntries(hosts.map((host) => [host, { hostName: host }])) },
})

const update = (desired: KubeObject, live: KubeObject): ObjectChange => ({
  change: 'update',
  desired,
  live,
  fields: [],
  foreign: [],
  risk: 'safe',
})

const hostsBySet = (changes: readonly ObjectChange[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(changes.map(({ desired }) => [desired.metadata.name, Object.keys(nodeSetHosts(desired))]))

describe('departures', () => {
  it('are the node sets that hosts leave', () => {
    const changes = [
      update(nodeSet('a', 'h0', 'h1'), nodeSet('a', 'h0')),
      update(nodeSet('b'), nodeSet('b', 'h1')),
      update(nodeSet('c', 'h3'), nodeSet('c', 'h3')),
    ]
    expect(hostsBySet(departures(changes))).toEqual({ b: [] })
  })

  it('let two node sets exchange hosts: no host is in both at any time', () => {
    const changes = [
      update(nodeSet('a', 'h0', 'h2', 'new'), nodeSet('a', 'h0', 'h1')),
      update(nodeSet('b', 'h1'), nodeSet('b', 'h2')),
    ]
    expect(hostsBySet(departures(changes))).toEqual({ a: ['h0', 'new'], b: [] })
  })
})

describe('findHostsInLeftovers', () => {
  const ref = (name: string) => {
    const { apiVersion, kind } = nodeSet(name)
    return { cloud: 'rhoso1', ref: { apiVersion, kind, name, namespace: 'openstack' } }
  }

  it('names the hosts, both node sets and the command that resolves it', () => {
    const live = indexSnapshot({ objects: [nodeSet('old', 'h0', 'h1')], unread: [] })
    const [found, ...others] = findHostsInLeftovers([nodeSet('new', 'h1', 'h2')], [ref('old')], live)
    expect(others).toEqual([])
    expect(found?.code).toBe('SL4031')
    expect(found?.message).toBe(
      'h1 moved to the node set new, but the node set old, which left the site file, still has it',
    )
    expect(found?.remedy).toContain('kubectl -n openstack delete openstackdataplanenodeset old')
  })

  it('reports nothing for a node set whose hosts left the site', () => {
    const live = indexSnapshot({ objects: [nodeSet('old', 'h0')], unread: [] })
    expect(findHostsInLeftovers([nodeSet('new', 'h1')], [ref('old')], live)).toEqual([])
  })
})
