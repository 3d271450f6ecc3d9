/**
 * Limits how often the progress of nodes is written, so that many nodes together cost few writes.
 *
 * The more nodes are in progress, the longer each waits. Steps that end within this time are written together.
 */
import type { KubeObject } from '../../api/object.ts'

export interface StatusThrottle {
  /** How long the status of a node in progress is not written yet. */
  readonly remainingMs: (node: KubeObject, now: number) => number
  readonly written: (node: KubeObject, now: number) => void
  readonly forget: (node: KubeObject) => void
}

/** Keeps a single node from writing every step. */
const MIN_NODES = 10

export function createStatusThrottle(perNodeMs: number): StatusThrottle {
  /** When each node in progress was last written, or first seen. */
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
