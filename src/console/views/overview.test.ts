/** The overview: how urgent a certificate is that ends, and the stage of the last run. */
import { expect, it } from 'vitest'
import { planSpec } from '../../../test/site.ts'
import { emptyLock } from '../../plan/lock.ts'
import { buildOverview } from './overview.ts'

const { plan, lock } = planSpec({ clouds: [{ name: 'rhoso1', namespace: 'openstack' }] })
const planned = {
  plan,
  lock,
  before: emptyLock(plan.site),
  file: 'site.yaml',
  lockFile: undefined,
  locate: () => ({ file: 'site.yaml', line: 1, column: 1 }),
  lines: [],
}

const input = {
  planned,
  cloudName: (namespace: string) => namespace,
  title: (code: string) => code,
  fileOptions: [],
  clusterOptions: [],
  now: 0,
  findings: { findings: [], groups: [] },
  pools: new Map(),
}

it.each([
  [-3, 'expired', 'error', 'ended 3 days ago'],
  [2, 'critical', 'error', 'ends in 2 days'],
  [10, 'soon', 'warning', 'ends in 10 days'],
  [20, 'due', 'info', 'ends in 20 days'],
])('a certificate with %i days left is %s, which is of severity %s', (daysLeft, verdict, severity, reason) => {
  const ending = { name: 'cert-keystone', verdict, daysLeft, notAfter: '2026-11-20T00:00:00Z' }
  const { attention } = buildOverview({
    ...input,
    hostSummary: { hosts: new Map(), certificates: new Map([['openstack', ending]]) },
  })
  expect(attention).toMatchObject([{ title: 'Certificate cert-keystone', severity, reason }])
})

it.each([
  [['done', 'failed', 'blocked', 'blocked'], { name: 'metallb-config', state: 'failed' }],
  [['done', 'done', 'running', 'pending'], { name: 'control-plane', state: 'running' }],
  [['done', 'done', 'done', 'done'], { name: 'data-plane', state: 'done' }],
] as const)('the stage of a cloud is that which failed, or else the last one that began: %s', (states, stage) => {
  const names = ['namespace', 'metallb-config', 'control-plane', 'data-plane']
  const stages = names.map((name, index) => ({
    id: name,
    name,
    cloud: 'rhoso1',
    after: [],
    critical: false,
    state: states[index] ?? 'pending',
    applied: { created: 0, changed: 0, unchanged: 0, deleted: 0 },
  }))
  const run = { id: 'r', what: 'up', state: 'failed', startedAt: '', source: 'live', done: 1, total: 4 } as const
  const { clouds } = buildOverview({ ...input, lastRun: { run, stages } })
  expect(clouds.find(({ name }) => name === 'rhoso1')?.stage).toMatchObject(stage)
})
