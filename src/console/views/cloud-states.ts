/** Judges clouds by the readiness of their objects: one state, the first reason, and the next command. Pure. */
import type { GroupStatus, ObjectStatus } from '../../deploy/deployment-status.ts'
import type { CloudLine } from '../documents/overview.ts'
import type { ViewInput } from './view-input.ts'

export interface CloudStatus extends Pick<CloudLine, 'state' | 'reason' | 'next' | 'objects'> {
  readonly name: string
  readonly namespace?: string
}

/** By the name of the cloud; `shared` for what the clouds share. Planned clouds that are not deployed are included. */
export function cloudStates({ planned, live }: ViewInput): ReadonlyMap<string, CloudStatus> {
  const deployed = new Map((live?.groups ?? []).map((group) => [group.cloud ?? 'shared', judgeGroup(group)]))
  for (const { name, namespace } of planned?.plan.clouds ?? []) {
    if (!deployed.has(name)) deployed.set(name, { name, namespace, objects: { ready: 0, total: 0 }, ...absent(live) })
  }
  return deployed
}

function absent(live: ViewInput['live']): Pick<CloudStatus, 'state' | 'reason'> {
  if (!live) return { state: 'planned' }
  const hidden = live.unread.find(({ kind, cause }) => kind === 'ConfigMap' && cause === 'forbidden')
  if (hidden) return { state: 'denied', reason: hidden.reason }
  return { state: 'planned', reason: 'not deployed yet' }
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
