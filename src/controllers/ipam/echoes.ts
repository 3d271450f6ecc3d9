/**
 * Echoes: what the watch tells of our own writes. Who made a change knows it, and need not look because of it.
 */
import type { KubeObject } from '../../api/object.ts'

export interface Echoes {
  /** As the API server answered. */
  readonly expect: (written: KubeObject) => void
  readonly isEcho: (object: KubeObject) => boolean
}

/** As many as can be under way; one that is forgotten costs a look that finds nothing to do. */
const REMEMBERED = 10_000

export function createEchoes(): Echoes {
  const expected = new Set<string>()
  const id = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`
  return {
    expect: (written) => {
      expected.add(id(written))
      const [oldest] = expected.size > REMEMBERED ? expected : []
      if (oldest !== undefined) expected.delete(oldest)
    },
    isEcho: (object) => expected.has(id(object)),
  }
}
