/** Renders the Velero objects that save and restore the volumes of a cloud, and judges their progress. Pure. */
import type { KubeObject } from '../api/object.ts'
import { formatObjectName, getString } from '../api/raw-object.ts'
import { failed, progressing, type Readiness, ready } from '../verify/readiness/verdict.ts'

export const VELERO_BACKUP = { apiVersion: 'velero.io/v1', kind: 'Backup' } as const
const VELERO_RESTORE = { apiVersion: 'velero.io/v1', kind: 'Restore' } as const

export interface VolumeBackup {
  readonly name: string
  /** The cloud's namespace. */
  readonly namespace: string
  readonly veleroNamespace: string
  /** The default location of Velero unless given. */
  readonly storageLocation?: string
}

/** Operators label the volumes that have data; the data is moved to the backup's storage, so that it survives the cluster. */
export function renderVolumeBackup({ name, namespace, veleroNamespace, storageLocation }: VolumeBackup): KubeObject {
  return {
    ...VELERO_BACKUP,
    metadata: { name, namespace: veleroNamespace },
    spec: {
      includedNamespaces: [namespace],
      labelSelector: { matchLabels: { 'backup.openstack.org/backup': 'true' } },
      snapshotVolumes: true,
      snapshotMoveData: true,
      defaultVolumesToFsBackup: false,
      ...(storageLocation !== undefined && { storageLocation }),
    },
  }
}

export interface VolumeRestore {
  /** The Velero Backup. */
  readonly backup: { readonly namespace: string; readonly name: string }
  /** The cloud's namespace. */
  readonly namespace: string
}

/** A restored volume must not keep its owner: the garbage collector deletes what has an owner with an unknown uid. */
export function renderVolumeRestore({ backup, namespace }: VolumeRestore): readonly [KubeObject, KubeObject] {
  const name = `${backup.name}-modifiers`
  const rules = {
    version: 'v1',
    resourceModifierRules: [
      {
        // One asterisk matches no dot, so no kind with a group.
        conditions: { groupResource: '**', namespaces: [namespace] },
        mergePatches: [{ patchData: JSON.stringify({ metadata: { ownerReferences: null } }) }],
      },
    ],
  }
  const modifiers = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: backup.namespace },
    // JSON is YAML, which Velero reads here.
    data: { 'resource-modifiers.yaml': JSON.stringify(rules) },
  }
  const restore = {
    ...VELERO_RESTORE,
    metadata: { name: backup.name, namespace: backup.namespace },
    spec: {
      backupName: backup.name,
      includedNamespaces: [namespace],
      // Pods come along as related items and cannot start before their ServiceAccounts exist.
      excludedResources: ['pods'],
      resourceModifier: { kind: 'ConfigMap', name },
      restorePVs: true,
    },
  }
  return [modifiers, restore]
}

const doneWithErrors = /Failed|Deleting/

export function veleroReadiness(object: KubeObject | undefined, name: string): Readiness {
  const phase = getString(object, 'status', 'phase') ?? ''
  if (phase === 'Completed') return ready
  if (!object || !doneWithErrors.test(phase)) return progressing(`${name}${phase === '' ? '' : ` (${phase})`}`)
  const reason = getString(object, 'status', 'failureReason') ?? phase
  return failed(`${formatObjectName(object)}: ${reason}`, `velero describe ${name}`)
}
