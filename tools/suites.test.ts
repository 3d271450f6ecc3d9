import { expect, it } from 'vitest'
import { filesBelow } from './files.ts'
import { suiteOf } from './suites.ts'

it('every test file has a suite, the one with the longest matching folder', () => {
  const tests = ['src', 'tools', 'test']
    .flatMap((folder) => filesBelow('.', folder))
    .filter((file) => file.endsWith('.test.ts'))
  expect(tests.filter((file) => !suiteOf(file))).toEqual([])
  expect(suiteOf('src/controllers/dns/x.test.ts')?.name).toBe('dns')
  expect(suiteOf('src/kube/x.test.ts')?.name).toBe('foundation')
})
