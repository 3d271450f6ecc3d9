import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { formatLastBackup, LAST_BACKUP } from '../../backup/last-backup.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { backupsPart, createBackupObserver, registerBackupMetrics } from './backups-part.ts'

const DAY = 86_400_000
const now = Date.parse('2026-01-01T00:00:00Z')
const controlPlane = (namespace: string, days?: number): KubeObject => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackControlPlane',
  metadata: {
    name: 'controlplane',
    namespace,
    ...(days !== undefined && {
      annotations: { [LAST_BACKUP]: formatLastBackup({ name: `backup-${days}`, time: now - days * DAY }) },
    }),
  },
})

it('stackloom_backup_timestamp_seconds has every cloud, and 0 for one without a backup', async () => {
  const registry = new Registry()
  registerBackupMetrics(registry, () => [controlPlane('openstack', 0), controlPlane('openstack2')])
  const text = await registry.metrics()
  expect(text).toContain(`stackloom_backup_timestamp_seconds{cloud="openstack"} ${now / 1000}`)
  expect(text).toContain('stackloom_backup_timestamp_seconds{cloud="openstack2"} 0')
})

it('records one Event of a backup that is 30 days old, and none of a cloud without one', async () => {
  const recorded: EventRecord[] = []
  let live: KubeObject | undefined = controlPlane('openstack')
  const observer = createBackupObserver(
    () => live,
    (event) => void recorded.push(event),
  )
  const reconcile = () =>
    observer.reconcile({ name: 'controlplane', namespace: 'openstack' }, { clock: { now: () => now } } as never)
  expect(await reconcile()).toBeUndefined()
  live = controlPlane('openstack', 29)
  expect(await reconcile()).toMatchObject({ requeueAfterMs: expect.any(Number) })
  expect(recorded).toEqual([])
  live = controlPlane('openstack', 31)
  await reconcile()
  await reconcile()
  expect(recorded).toMatchObject([{ reason: 'BackupOld', note: expect.stringContaining('31 days old') }])
  live = undefined
  expect(await reconcile()).toBeUndefined()
})

it('the part may only read', () => {
  expect(backupsPart.rules).toMatchObject([{ resources: ['openstackcontrolplanes'], verbs: ['get', 'list', 'watch'] }])
})
