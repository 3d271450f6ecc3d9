/** The matrix of hosts: what is folded, what each cell says, and which IPSets wait. */
import { describe, expect, it } from 'vitest'
import { failed, judge, nodeSet, deployment as succeeded } from '../../../test/node-set-objects.ts'
import { buildHosts } from './hosts-matrix.ts'
import type { HostsInput } from './view-input.ts'

const build = (hosts: Partial<HostsInput>) =>
  buildHosts({
    hosts: { states: [], deployments: [], certificates: [], subnets: [], findings: [], ...hosts },
    cloudName: (namespace) => ({ openstack: 'rhoso1' })[namespace] ?? namespace,
    title: (code) => code,
    fileOptions: [],
    clusterOptions: [],
    now: 0,
  })

const hostNames = Array.from({ length: 100 }, (_, index) => `compute-${index}`)
const nodes = Object.fromEntries(hostNames.map((name) => [name, { hostName: name }]))

describe('the matrix', () => {
  const summaries = {
    'bootstrap-second-computes': { failedHostList: ['compute-3'], unreachableHostList: ['compute-7', 'compute-8'] },
  }
  const deployments = [succeeded('first'), failed('second', { ansibleExecutionSummaries: summaries })]
  const states = judge(deployments, { nodeSets: [nodeSet({}, { nodes })] })
  const [computes] = build({ states }).nodeSets

  it('folds equal hosts to one row, and shows those that differ below it', () => {
    expect(computes?.alike).toBe('97 alike, 3 differ')
    expect(computes?.groups.map(({ label, hosts }) => [label, hosts.length])).toEqual([
      ['compute-[0-2], compute-[4-6], compute-[9-99]', 97],
      ['compute-[7-8]', 2],
      ['compute-3', 1],
    ])
  })

  it('says of each service whether it is current, failed, or was not reached', () => {
    const cells = computes?.groups.map((group) => group.cells.map(({ id, state }) => `${id} ${state}`).join())
    expect(cells).toEqual([
      'bootstrap current,nova current',
      'bootstrap unreachable,nova current',
      'bootstrap failed,nova current',
    ])
  })
})

it('lists the IPSets that wait, with the reason', () => {
  const subnet = { namespace: 'openstack', network: 'tenant', subnet: 'subnet1', cidr: '172.19.0.0/24', segment: 'x' }
  const waiting = [{ owner: 'openstack/edpm-compute-9', why: 'tenant/subnet1 has no free address' }]
  expect(build({ subnets: [{ ...subnet, used: 151, free: '0', holders: [], waiting }] }).waiting).toEqual([
    {
      id: 'openstack/edpm-compute-9 tenant',
      cloud: 'rhoso1',
      network: 'tenant',
      owner: 'openstack/edpm-compute-9',
      why: 'tenant/subnet1 has no free address',
    },
  ])
})
