/** Volume claims: bound, or why not. */
import type { KubeObject } from '../../api/object.ts'
import { ageMs, formatObjectName, getField, getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { latestEvent } from './object-events.ts'
import { failed, progressing, type ReadinessRule, ready } from './verdict.ts'

const CLASS = 'storage.k8s.io/StorageClass'
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

export const claimReadiness: ReadinessRule = (claim, { around, now, grace }) => {
  const phase = getString(claim, 'status', 'phase')
  const describe = `kubectl -n ${claim.metadata.namespace} describe pvc ${claim.metadata.name}`
  if (phase === 'Bound') return ready
  if (phase === 'Lost') return failed(`${formatObjectName(claim)} has lost its volume`, describe)
  const lacking = missingStorageClass(claim, around)
  const old = ageMs(claim.metadata.creationTimestamp, now) >= grace.allocationMs
  // A default class may be on its way, and is given to claims that wait for one.
  if (lacking && (getField(claim, 'spec', 'storageClassName') !== undefined || old))
    return failed(`${formatObjectName(claim)} ${lacking}`, 'kubectl get storageclass')
  const said = latestEvent(claim, ['ProvisioningFailed', 'FailedBinding'], around)
  if (said && ageMs(said.first, now) >= grace.allocationMs)
    return failed(`${formatObjectName(claim)} stays pending: ${said.message}`, describe)
  return progressing(`${formatObjectName(claim)} to be bound${said ? `: ${said.message}` : ''}`)
}

/** Which storage class is missing. The empty name is none: such a claim waits for a volume that somebody makes. */
function missingStorageClass(claim: KubeObject, around: SnapshotIndex): string | undefined {
  const asked = getField(claim, 'spec', 'storageClassName')
  const classes = around.all(CLASS)
  if (asked === '' || classes.length === 0) return undefined
  if (typeof asked === 'string') {
    const known = classes.some(({ metadata }) => metadata.name === asked)
    return known ? undefined : `asks for the storage class ${asked}, which does not exist`
  }
  const standard = classes.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
  return standard ? undefined : 'asks for the default storage class, and none of the classes is the default'
}
