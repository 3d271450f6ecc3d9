import { expect, it } from 'vitest'
import { stopOrder } from './supervisor.ts'
import type { Task } from './supervisor-spec.ts'

const task = (name: string, ...after: string[]): Task => ({
  name,
  after,
  file: '/bin/true',
  args: [],
  probe: { kind: 'none' },
  readyMs: 1,
})

it('stopOrder stops tasks after their dependents, and independent tasks together', () => {
  const tasks = [task('etcd'), task('api', 'etcd'), task('manager', 'api'), task('metallb', 'api')]
  expect(stopOrder(tasks)).toEqual([['manager', 'metallb'], ['api'], ['etcd']])
  expect(stopOrder([task('a', 'b'), task('b', 'a')])).toEqual([['a', 'b']])
})
