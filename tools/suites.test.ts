import { expect, it } from 'vitest'
import { filesBelow } from './files.ts'
import { findSuite } from './suites.ts'

it('every test file belongs to the suite with the longest matching folder', () => {
  const tests = ['src', 'web', 'tools', 'test']
    .flatMap((folder) => filesBelow('.', folder))
    .filter((file) => file.endsWith('.test.ts'))
  expect(tests.filter((file) => !findSuite(file))).toEqual([])
  expect(findSuite('src/controllers/dns/x.test.ts')?.name).toBe('dns')
  expect(findSuite('src/kube/x.test.ts')?.name).toBe('foundation')
})
