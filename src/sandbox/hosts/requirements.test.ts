import { expect, it } from 'vitest'
import { judgeMachine } from './requirements.ts'

const fit = { platform: 'linux', isRoot: true, missing: [] }

it('hosts are refused where they cannot run, with the packages that are missing', () => {
  expect(judgeMachine(fit)).toEqual([])
  expect(judgeMachine({ ...fit, platform: 'darwin' })[0]?.message).toContain('this is darwin, not Linux')
  expect(judgeMachine({ ...fit, isRoot: false })[0]?.message).toContain('this user is not root')
  const missing = [{ name: 'unshare', package: 'util-linux' }]
  expect(judgeMachine({ ...fit, missing })[0]?.remedy).toContain('apt install util-linux')
})
