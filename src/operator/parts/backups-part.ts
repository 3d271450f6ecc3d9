/** Defines the operator part that serves when each cloud was last backed up as a metric, and records an Event of an old backup. */
import { Gauge, type Registry } from 'prom-client'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { CONTROL_PLANE } from '../../backup/backup-kinds.ts'
import { oldBackupDays, readLastBackup } from '../../backup/last-backup.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { OperatorPart, PartContext } from './part.ts'

const kinds = [CONTROL_PLANE]

export const backupsPart: OperatorPart = {
  name: 'backups',
  optional: true,
  kinds,
  crds: { own: [], upstream: [] },
  rules: [
    {
      apiGroups: ['core.openstack.org'],
      resources: ['openstackcontrolplanes'],
      verbs: ['get', 'list', 'watch'],
      reason: 'report when a cloud was last backed up',
    },
  ],
  webhooks: [],
  start: (context) => {
    startBackups(context)
    return {}
  },
  observe: { kinds, start: startBackups },
}

function startBackups({ runtime, metrics, record }: PartContext): void {
  const planes = runtime.cache({ kind: CONTROL_PLANE })
  registerBackupMetrics(metrics.registry, () => planes.list())
  runtime.add(createBackupObserver((key) => planes.get(key), record))
}

/** Every cloud is present: 0 where `stackloom backup` was never used. */
export function registerBackupMetrics(registry: Registry, list: () => readonly KubeObject[]): void {
  const gauge: Gauge = new Gauge({
    name: 'stackloom_backup_timestamp_seconds',
    help: 'When stackloom backup last ended, by cloud (namespace); 0 for never',
    labelNames: ['cloud'],
    registers: [registry],
    collect: () => {
      gauge.reset()
      for (const object of list())
        gauge.set({ cloud: object.metadata.namespace ?? '' }, (readLastBackup(object)?.time ?? 0) / 1000)
    },
  })
}

const LOOK_AGAIN_MS = 3_600_000

export function createBackupObserver(
  find: (key: string) => KubeObject | undefined,
  record: (event: EventRecord) => void,
): Controller {
  const announced = new Map<string, string>()
  return {
    name: 'backup-observer',
    watches: [{ kind: CONTROL_PLANE }],
    reconcile: async (request, { clock }) => {
      const key = objectKey(request)
      const controlPlane = find(key)
      const backup = controlPlane && readLastBackup(controlPlane)
      const days = backup && oldBackupDays(backup, clock.now())
      if (!controlPlane || days === undefined) {
        announced.delete(key)
      } else if (announced.get(key) !== backup?.name) {
        announced.set(key, backup?.name ?? '')
        const note = `its last backup ${backup?.name} is ${days} days old; see \`stackloom backup --help\``
        record({ regarding: controlPlane, type: 'Warning', reason: 'BackupOld', action: 'Judge', note })
      }
      return backup ? { requeueAfterMs: LOOK_AGAIN_MS } : undefined
    },
  }
}
