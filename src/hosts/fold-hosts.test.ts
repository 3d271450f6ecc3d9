import { expect, it } from 'vitest'
import { explainState, foldHosts, formatAlike, formatHostNames } from './fold-hosts.ts'
import type { HostState } from './judge-hosts.ts'

const state = (host: string, more: Partial<HostState> = {}): HostState => ({
  namespace: 'openstack',
  nodeSet: 'computes',
  host,
  verdict: 'current',
  services: ['nova'],
  changes: [],
  failures: [],
  unknown: [],
  ...more,
})

it('foldHosts puts hosts of a node set in the same state together, the largest group first', () => {
  const behind = state('compute-3', { verdict: 'behind', changes: [{ kind: 'spec', services: ['nova'] }] })
  const groups = foldHosts([behind, state('compute-0'), state('compute-1'), state('compute-0', { nodeSet: 'other' })])
  expect(groups.map(({ nodeSet, verdict, hosts }) => [nodeSet, verdict, hosts])).toEqual([
    ['computes', 'current', ['compute-0', 'compute-1']],
    ['computes', 'behind', ['compute-3']],
    ['other', 'current', ['compute-0']],
  ])
  expect(formatAlike(groups.filter(({ nodeSet }) => nodeSet === 'computes'))).toBe('2 alike, 1 differ')
  expect(formatAlike(groups.filter(({ nodeSet }) => nodeSet === 'other'))).toBeUndefined()
})

it('formatHostNames writes consecutive numbers as a range', () => {
  const hosts = ['compute-10', 'compute-2', 'compute-3', 'compute-1', 'storage', 'compute-007', 'compute-008']
  expect(formatHostNames(hosts)).toBe('compute-[1-3], compute-00[7-8], compute-10, storage')
})

it('explainState names what changed and which services read it', () => {
  const changes: HostState['changes'] = [
    { kind: 'never', services: ['telemetry'] },
    { kind: 'spec', services: ['nova', 'ovn'] },
    { kind: 'Secret', name: 'nova-config', change: 'changed', services: ['nova'] },
    { kind: 'ConfigMap', name: 'extra', change: 'added', services: ['nova', 'ovn'] },
    { kind: 'image', name: 'NovaComputeImage', services: ['nova'] },
  ]
  expect(explainState(state('a', { verdict: 'behind', changes }))).toBe(
    'telemetry never ran; the node set has changed; Secret nova-config has changed (nova); ' +
      'ConfigMap extra was added (nova, ovn); image NovaComputeImage has changed (nova)',
  )
})

it('explainState tells a failed host from a deployment that names no hosts', () => {
  const failures: HostState['failures'] = [
    { deployment: 'd2', service: 'nova', reason: 'failed', message: 'backoff limit' },
    { deployment: 'd2', service: 'ovn', reason: 'unreachable' },
    { deployment: 'd3', reason: 'unknown' },
    { deployment: 'd4', service: 'nova', reason: 'failed', message: 'backoff limit', task: 'Start', cause: 'no space' },
  ]
  expect(explainState(state('a', { verdict: 'failed', failures }))).toBe(
    'failed in nova of d2: backoff limit; unreachable in ovn of d2; d3 failed and names no hosts; ' +
      'failed in nova of d4, task "Start": no space',
  )
})
