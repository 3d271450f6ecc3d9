/** Runs the checks of `verify` and the rules of the doctor over the cluster, in parts: requests are answered in between. */
import type { Snapshot } from '../api/snapshot.ts'
import type { Clock } from '../clock/clock.ts'
import { diagnoseInSteps } from '../doctor/diagnose.ts'
import { rules } from '../doctor/rules.ts'
import type { Plan } from '../plan/plan.ts'
import type { RenderedDocument } from '../render/render.ts'
import { checks } from '../verify/checks.ts'
import { type CheckResult, verify } from '../verify/verify.ts'
import type { LiveSource } from './live-source.ts'
import type { Examination } from './views/view-input.ts'

export interface ExaminedPlan {
  readonly plan: Plan
  readonly documents: readonly RenderedDocument[]
  readonly kept: readonly RenderedDocument[]
}

/** Work without a pause delays what the page waits for. */
const PART_MS = 15

export async function examineCluster(
  source: LiveSource,
  evidence: Snapshot,
  planned: ExaminedPlan | undefined,
  clock: Clock,
): Promise<Examination> {
  const now = clock.now()
  const pause = createPause(clock)
  const found = planned ? await verifyInParts(planned, source, now, pause) : []
  const steps = diagnoseInSteps({ snapshot: evidence, now, ...(planned && { plan: planned.plan }) }, rules)
  for (;;) {
    await pause()
    const { done, value } = steps.next()
    if (done) return { checks: found, report: value, time: new Date(now).toISOString() }
  }
}

async function verifyInParts(
  { plan, documents, kept }: ExaminedPlan,
  source: LiveSource,
  now: number,
  pause: () => Promise<void>,
): Promise<readonly CheckResult[]> {
  const context = { plan, documents, kept, live: source.index(), unread: source.unread(), now }
  const found: CheckResult[] = []
  for (const check of checks.filter(({ scope }) => scope === 'site')) {
    await pause()
    found.push(...verify([check], context))
  }
  const cloudChecks = checks.filter(({ scope }) => scope === 'cloud')
  for (const { name } of plan.clouds) {
    const cloudDocuments = documents.filter(({ cloud }) => cloud === name)
    for (const check of cloudChecks) {
      await pause()
      found.push(...verify([check], { ...context, documents: cloudDocuments, clouds: [name] }))
    }
  }
  return found
}

/** Lets requests and changes pass when the last pause is long enough ago. */
function createPause(clock: Clock): () => Promise<void> {
  let last = clock.elapsed()
  return async () => {
    if (clock.elapsed() - last < PART_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    last = clock.elapsed()
  }
}
