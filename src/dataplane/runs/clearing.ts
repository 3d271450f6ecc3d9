/** Describes how far a host is cleared of what was deployed on it, and reports it in a condition. Pure. */
import type { Condition } from '../../api/object.ts'
import { conditionForFinding, conditionRequested } from '../../controllers/kit/conditions.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { hostNotCleared } from '../findings/data-plane.ts'
import type { RunDecision } from './decide-step.ts'

/** `"true"` on an object: delete it, whatever runs on its host. */
export const FORCE_ANNOTATION = 'stackloom.dev/force-decommission'
export const DECOMMISSION_READY = 'DecommissionReady'

/** Why the host is not cleared yet. */
export interface Clearing {
  readonly why: string
  /** Set where a person has to act. */
  readonly finding?: Finding
  readonly retryAfterMs?: number
}

interface ClearingFacts {
  readonly kind: string
  readonly host: string
  readonly blockedBy: string | undefined
}

export function clearingFailed({ kind, host }: Pick<ClearingFacts, 'kind' | 'host'>, why: string): Clearing {
  return { why, finding: finding(hostNotCleared, { kind, node: host, why, override: FORCE_ANNOTATION }) }
}

/** `decision` is about the run that clears the host. */
export function describeClearing(decision: RunDecision, facts: ClearingFacts): Clearing {
  const { host, blockedBy } = facts
  switch (decision.kind) {
    case 'wait':
      // Another run on the host ends by itself; a missing node or inventory does not come back.
      return blockedBy === undefined ? { why: decision.why } : clearingFailed(facts, blockedBy)
    case 'pause':
      return { ...clearingFailed(facts, decision.attempt.why ?? 'it failed'), retryAfterMs: decision.ms }
    case 'backed-off':
      return clearingFailed(facts, decision.attempt.why ?? 'it failed')
    default:
      return { why: `it is being removed from ${host}` }
  }
}

export function clearingCondition(clearing: Clearing): Condition {
  return clearing.finding
    ? conditionForFinding(DECOMMISSION_READY, clearing.finding, 'DeletionFailed')
    : conditionRequested(DECOMMISSION_READY, clearing.why, 'Deleting')
}
