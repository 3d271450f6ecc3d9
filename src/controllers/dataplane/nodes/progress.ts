/**
 * How often the progress of nodes is told: so seldom that all of them together cost few writes.
 *
 * The more nodes are under way, the longer each keeps quiet. What is done within that time is told once, at its end.
 */
import type { KubeObject } from '../../../api/object.ts'

export interface Progress {
  /** How long a node that is under way keeps quiet still. */
  readonly left: (node: KubeObject, now: number) => number
  readonly told: (node: KubeObject, now: number) => void
  readonly ended: (node: KubeObject) => void
}

/** So that one node alone does not tell of every step. */
const FEWEST = 10

export function createProgress(perNodeMs: number): Progress {
  /** Of every node that is under way: when it last told of itself, or was first seen. */
  const times = new Map<string, number>()
  return {
    left: ({ metadata }, now) => {
      const { uid = '' } = metadata
      const last = times.get(uid) ?? now
      times.set(uid, last)
      return last + perNodeMs * Math.max(FEWEST, times.size) - now
    },
    told: ({ metadata }, now) => void times.set(metadata.uid ?? '', now),
    ended: ({ metadata }) => void times.delete(metadata.uid ?? ''),
  }
}
