/**
 * How often the progress of nodes is told: so seldom that all of them together cost few writes.
 *
 * The more nodes are under way, the longer each keeps quiet. What is done within that time is told once, at its end.
 */
import type { KubeObject } from '../../api/object.ts'

export interface StatusThrottle {
  /** How long a node that is under way keeps quiet still. */
  readonly remainingMs: (node: KubeObject, now: number) => number
  readonly written: (node: KubeObject, now: number) => void
  readonly forget: (node: KubeObject) => void
}

/** So that one node alone does not tell of every step. */
const MIN_NODES = 10

export function createStatusThrottle(perNodeMs: number): StatusThrottle {
  /** Of every node that is under way: when it last told of itself, or was first seen. */
  const times = new Map<string, number>()
  return {
    remainingMs: ({ metadata }, now) => {
      const { uid = '' } = metadata
      const last = times.get(uid) ?? now
      times.set(uid, last)
      return last + perNodeMs * Math.max(MIN_NODES, times.size) - now
    },
    written: ({ metadata }, now) => void times.set(metadata.uid ?? '', now),
    forget: ({ metadata }) => void times.delete(metadata.uid ?? ''),
  }
}
