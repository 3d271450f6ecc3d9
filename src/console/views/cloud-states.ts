/** Judges clouds by the readiness of their objects: one state, the first reason, and the next command. Pure. */
import type { GroupStatus, ObjectStatus } from '../../deploy/deployment-status.ts'
import type { CloudLine } from '../documents/overview.ts'
import type { ViewInput } from './view-input.ts'

export interface CloudStatus extends Pick<CloudLine, 'state' | 'reason' | 'next' | 'objects'> {
  readonly name: string
  readonly namespace?: string
}

/** By the name of the cloud; `shared` for what the clouds share. Planned clouds that are not deployed are included. */
export function cloudStates({ planned, live, cloudName }: ViewInput): ReadonlyMap<string, CloudStatus> {
  const states = new Map((live?.groups ?? []).map((group) => [group.cloud ?? 'shared', judgeGroup(group)]))
  const none = { ready: 0, total: 0 }
  for (const namespace of live?.denied ?? []) {
    const name = cloudName(namespace)
    const reason = `access denied: this user may not read namespace ${namespace}`
    states.set(name, { name, namespace, objects: none, state: 'denied', reason })
  }
  for (const { name, namespace } of planned?.plan.clouds ?? []) {
    if (states.has(name)) continue
    states.set(name, { name, namespace, objects: none, state: 'planned', ...(live && { reason: 'not deployed yet' }) })
  }
  return states
}

function judgeGroup({ cloud = 'shared', namespace, objects }: GroupStatus): CloudStatus {
  const ready = objects.filter(({ readiness }) => readiness.kind === 'ready').length
  return {
    name: cloud,
    ...(namespace !== undefined && { namespace }),
    objects: { ready, total: objects.length },
    ...worstObject(objects),
  }
}

function worstObject(objects: readonly ObjectStatus[]): Pick<CloudStatus, 'state' | 'reason' | 'next'> {
  const failed = objects.find(({ readiness }) => readiness.kind === 'failed')
  if (failed?.readiness.kind === 'failed')
    return { state: 'failed', reason: failed.readiness.cause, next: failed.readiness.next }
  const waiting = objects.find(({ readiness }) => readiness.kind === 'progressing')
  if (waiting?.readiness.kind === 'progressing')
    return { state: 'progressing', reason: `waits for ${waiting.readiness.waits}` }
  return objects.length === 0 ? { state: 'unknown' } : { state: 'ready' }
}
