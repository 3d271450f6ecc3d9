import { expect, it } from 'vitest'
import { compatibilityPage, pinnedVersion } from './compatibility-page.ts'

it('the version of a module is the one that the pin requires, in both forms of go.mod', () => {
  expect(pinnedVersion('module a\n\nrequire k8s.io/x v1.2.3 // indirect\n', 'k8s.io/x')).toBe('v1.2.3')
  expect(pinnedVersion('require (\n\tk8s.io/xy v9.9.9\n\tk8s.io/x v1.2.3\n)\n', 'k8s.io/x')).toBe('v1.2.3')
  expect(() => pinnedVersion('module a\n', 'k8s.io/x')).toThrow('k8s.io/x')
})

it('every row of the table has a version', () => {
  const table = compatibilityPage()
    .split('\n')
    .filter((line) => line.startsWith('| '))
  expect(table.length).toBeGreaterThan(10)
  expect(table.slice(1).filter((line) => (line.split('|')[2] ?? '').trim() === '')).toEqual([])
})
