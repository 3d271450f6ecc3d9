import { expect, it } from 'vitest'
import type { HostState } from './judge-hosts.ts'
import { addCauses, failedRuns } from './run-logs.ts'

const state = (host: string, namespace = 'openstack', service: string | undefined = 'nova'): HostState => ({
  namespace,
  nodeSet: 'computes',
  host,
  verdict: 'failed',
  services: ['nova'],
  changes: [],
  failures: [{ deployment: 'second', reason: 'failed', ...(service !== undefined && { service }) }],
  unknown: [],
})
const output = 'TASK [Start nova] ***\nfatal: [compute-0]: FAILED! => {"msg": "no space"}\n'

it('failedRuns names each deployment once', () => {
  expect(failedRuns([state('compute-0'), state('compute-1'), state('compute-0', 'openstack2')])).toEqual([
    { namespace: 'openstack', deployment: 'second' },
    { namespace: 'openstack2', deployment: 'second' },
  ])
})

it('addCauses adds the task and the cause to the host of the same cloud, deployment and service', () => {
  const log = { namespace: 'openstack', deployment: 'second', service: 'nova', output }
  const cause = { task: 'Start nova', cause: 'no space' }
  const [first, second, other] = addCauses(
    [state('compute-0'), state('compute-1'), state('compute-0', 'openstack2')],
    [log],
  )
  expect(first?.failures).toMatchObject([cause])
  expect(second?.failures[0]).not.toHaveProperty('cause')
  expect(other?.failures[0]).not.toHaveProperty('cause')
  const { service: _, ...unnamed } = state('compute-0').failures[0] as HostState['failures'][0]
  expect(addCauses([{ ...state('compute-0'), failures: [unnamed] }], [log])[0]?.failures).toMatchObject([cause])
  expect(addCauses([state('compute-0', 'openstack', 'ovn')], [log])[0]?.failures[0]).not.toHaveProperty('cause')
})
