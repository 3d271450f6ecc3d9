import { expect, it } from 'vitest'
import { formatLastBackup, LAST_BACKUP, oldBackupDays, readLastBackup } from './last-backup.ts'

const controlPlane = (text?: string) => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'controlplane', ...(text !== undefined && { annotations: { [LAST_BACKUP]: text } }) },
})
const DAY = 86_400_000

it('the record of a backup is read as it was written', () => {
  const backup = { name: 'rhoso1-20261117-170901-4711', time: Date.parse('2026-11-17T17:09:12Z') }
  expect(readLastBackup(controlPlane(formatLastBackup(backup)))).toEqual(backup)
})

it.each([undefined, '', ' ', 'name', 'name yesterday', ' 2026-11-17T17:09:12Z'])(
  'a record such as %j is no backup',
  (text) => {
    expect(readLastBackup(controlPlane(text))).toBeUndefined()
  },
)

it('a backup is old after 30 days', () => {
  expect(oldBackupDays({ name: 'a', time: 0 }, 30 * DAY - 1)).toBeUndefined()
  expect(oldBackupDays({ name: 'a', time: 0 }, 30 * DAY)).toBe(30)
})
