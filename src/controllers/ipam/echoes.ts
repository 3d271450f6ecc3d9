/**
 * Echoes: what the watch tells of our own writes. Who made a change knows it, and need not look because of it.
 */
import type { KubeObject } from '../../api/object.ts'

export interface OwnWrites {
  /** As the API server answered. */
  readonly add: (written: KubeObject) => void
  readonly has: (object: KubeObject) => boolean
}

/** As many as can be under way; one that is forgotten costs a look that finds nothing to do. */
const MAX_REMEMBERED_WRITES = 10_000

export function createOwnWrites(): OwnWrites {
  const expected = new Set<string>()
  const id = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`
  return {
    add: (written) => {
      expected.add(id(written))
      const [oldest] = expected.size > MAX_REMEMBERED_WRITES ? expected : []
      if (oldest !== undefined) expected.delete(oldest)
    },
    has: (object) => expected.has(id(object)),
  }
}
