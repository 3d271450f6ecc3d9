/** The overview: how urgent a certificate is that ends. */
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

it.each([
  [-3, 'expired', 'error', 'ended 3 days ago'],
  [2, 'critical', 'error', 'ends in 2 days'],
  [10, 'soon', 'warning', 'ends in 10 days'],
  [20, 'due', 'info', 'ends in 20 days'],
])('a certificate with %i days left is %s, which is of severity %s', (daysLeft, verdict, severity, reason) => {
  const ending = { name: 'cert-keystone', verdict, daysLeft, notAfter: '2026-11-20T00:00:00Z' }
  const { attention } = buildOverview({
    planned,
    cloudName: (namespace) => namespace,
    title: (code) => code,
    fileOptions: [],
    clusterOptions: [],
    now: 0,
    findings: { findings: [], groups: [] },
    pools: new Map(),
    hostSummary: { hosts: new Map(), certificates: new Map([['openstack', ending]]) },
  })
  expect(attention).toMatchObject([{ title: 'Certificate cert-keystone', severity, reason }])
})
