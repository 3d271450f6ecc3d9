/** Objects and what is around them, for tests of readiness rules: one moment, two nodes. */
import type { Condition, KubeObject } from '../src/api/object.ts'
import { indexSnapshot } from '../src/api/snapshot.ts'
import { liveReadiness } from '../src/verify/readiness/readiness.ts'
import { defaultGrace, type Readiness, type ReadinessContext } from '../src/verify/readiness/verdict.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
export const ago = (ms: number): string => new Date(NOW - ms).toISOString()

interface Draft {
  readonly apiVersion?: string
  readonly kind: string
  readonly name?: string
  readonly namespace?: string
  readonly metadata?: Partial<KubeObject['metadata']>
  readonly [field: string]: unknown
}

export function object({ apiVersion = 'v1', kind, name = 'it', namespace, metadata, ...rest }: Draft): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), uid: `uid-${name}`, ...metadata },
    ...rest,
  }
}

export function context(objects: readonly KubeObject[], more: Partial<ReadinessContext> = {}): ReadinessContext {
  return {
    around: indexSnapshot({ objects, unread: [] }),
    now: NOW,
    grace: defaultGrace,
    nodes: ['worker-0', 'worker-1'],
    ...more,
  }
}

export function judge(
  subject: KubeObject,
  others: readonly KubeObject[] = [],
  more: Partial<ReadinessContext> = {},
): Readiness {
  return liveReadiness(subject, context([subject, ...others], more))
}

export function condition(type: string, status: Condition['status'], more: Partial<Condition> = {}): Condition {
  return { type, status, ...more }
}
