/** Says when a Secret was last changed, from its metadata. Pure. */
import { asList, asRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'

export interface CredentialState {
  readonly namespace: string
  readonly secret: string
  /** The object that names the Secret: `OpenStackControlPlane controlplane`. */
  readonly usedBy: string
  readonly changed?: string
  readonly ageDays?: number
  /** Data plane hosts that still have the values that were there before. */
  readonly outdatedHosts: readonly string[]
}

const DAY = 86_400_000

/** The last write, or the creation where writes are not recorded. */
export function judgeAge(secret: KubeObject, now: number): Pick<CredentialState, 'changed' | 'ageDays'> {
  const { managedFields, creationTimestamp } = asRecord(secret.metadata)
  const times = [...asList(managedFields).map((entry) => asRecord(entry)['time']), creationTimestamp]
  const changed = times.filter((time): time is string => typeof time === 'string' && !Number.isNaN(Date.parse(time)))
  const last = changed.sort().at(-1)
  return last === undefined ? {} : { changed: last, ageDays: Math.floor((now - Date.parse(last)) / DAY) }
}
