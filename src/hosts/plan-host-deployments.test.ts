import { expect, it } from 'vitest'
import type { HostState, Verdict } from './judge-hosts.ts'
import { planHostDeployments, renderHostDeployment } from './plan-host-deployments.ts'

const state = (host: string, verdict: Verdict, nodeSet = 'computes', namespace = 'openstack'): HostState => ({
  namespace,
  nodeSet,
  host,
  verdict,
  services: [],
  changes: [],
  failures: [],
  unknown: [],
})
const behind = { behind: true, failed: false }
const none = (): readonly string[] => []
const specs = (...args: Parameters<typeof planHostDeployments>): readonly unknown[] =>
  planHostDeployments(...args).map((deployment) => renderHostDeployment(deployment)['spec'])

it('limits the deployment to the hosts that are behind or were never deployed', () => {
  const states = [state('c-10', 'behind'), state('c-2', 'never'), state('c-3', 'current'), state('c-4', 'failed')]
  expect(specs(states, behind, none)).toEqual([{ nodeSets: ['computes'], ansibleLimit: 'c-2,c-10' }])
  expect(specs(states, { behind: false, failed: true }, none)).toEqual([
    { nodeSets: ['computes'], ansibleLimit: 'c-4' },
  ])
})

it('needs no limit when every host of its node sets is selected', () => {
  const states = [state('c-0', 'behind'), state('c-1', 'behind'), state('s-0', 'current', 'storage')]
  expect(specs(states, behind, none)).toEqual([{ nodeSets: ['computes'] }])
})

it('plans one deployment per cloud, and one per node set where hosts of two node sets have the same name', () => {
  const states = [
    state('c-0', 'behind'),
    state('s-0', 'behind', 'storage'),
    state('c-0', 'behind', 'computes', 'openstack2'),
    state('c-0', 'behind', 'spare', 'openstack2'),
    state('c-1', 'current', 'spare', 'openstack2'),
  ]
  expect(specs(states, behind, none)).toEqual([
    { nodeSets: ['computes', 'storage'] },
    { nodeSets: ['computes'] },
    { nodeSets: ['spare'], ansibleLimit: 'c-0' },
  ])
})

it('plans nothing for hosts that run or whose state is unknown', () => {
  const states = [state('c-0', 'running'), state('c-1', 'unknown'), state('c-2', 'current')]
  expect(planHostDeployments(states, { behind: true, failed: true }, none)).toEqual([])
})

it('has the same name until another deployment has ended', () => {
  const states = [state('c-0', 'behind'), state('c-1', 'current')]
  const [first] = planHostDeployments(states, behind, () => ['b', 'a'])
  const [again] = planHostDeployments(states, behind, () => ['a', 'b'])
  const [later] = planHostDeployments(states, behind, () => ['a', 'b', 'c'])
  expect(again?.name).toBe(first?.name)
  expect(later?.name).not.toBe(first?.name)
})

it('lets nova discover only hosts on which nova never ran', () => {
  const compute = { ...state('c-0', 'never'), services: ['bootstrap', 'nova'] }
  const isFirst = (...states: HostState[]) =>
    planHostDeployments(states, behind, none).map((planned) => planned.isFirst)
  expect(isFirst(compute)).toEqual([true])
  expect(isFirst({ ...compute, services: ['bootstrap', 'ovn'] })).toEqual([false])
  expect(isFirst({ ...compute, verdict: 'behind' })).toEqual([false])
  expect(isFirst({ ...compute, verdict: 'behind', changes: [{ kind: 'never', services: ['nova'] }] })).toEqual([true])
})
