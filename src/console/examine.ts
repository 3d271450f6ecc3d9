/** Runs the checks of `verify` and the rules of the doctor over the cluster, in parts: requests are answered in between. */
import type { Snapshot } from '../api/snapshot.ts'
import type { Clock } from '../clock/clock.ts'
import { diagnoseInSteps } from '../doctor/diagnose.ts'
import { rules } from '../doctor/rules.ts'
import type { Plan } from '../plan/plan.ts'
import { createPartRenderer, renderKeptDocuments } from '../render/render.ts'
import { checks } from '../verify/checks.ts'
import { type CheckResult, verify } from '../verify/verify.ts'
import type { LiveSource } from './live-source.ts'
import type { Examination } from './views/view-input.ts'

/** Work without a pause delays what the page waits for. */
const PART_MS = 15

/** `gather` reads what the rules of the doctor need. It is called after the checks, whose documents are gone by then. */
export async function examineCluster(
  source: Pick<LiveSource, 'index' | 'unread'>,
  gather: () => Promise<Snapshot>,
  plan: Plan | undefined,
  clock: Clock,
): Promise<Examination> {
  const now = clock.now()
  const pause = createPause(clock)
  const found = plan ? await verifyInParts(plan, source, now, pause) : []
  const steps = diagnoseInSteps({ snapshot: await gather(), now, ...(plan && { plan }) }, rules)
  for (;;) {
    await pause()
    const { done, value } = steps.next()
    if (done) return { checks: found, report: value, time: new Date(now).toISOString() }
  }
}

/** Renders one cloud at a time: the objects of fifty clouds are as large as what the cluster has of them. */
async function verifyInParts(
  plan: Plan,
  source: Pick<LiveSource, 'index' | 'unread'>,
  now: number,
  pause: () => Promise<void>,
): Promise<readonly CheckResult[]> {
  const renderer = createPartRenderer(plan)
  const context = { plan, kept: renderKeptDocuments(plan), live: source.index(), unread: source.unread(), now }
  const found: CheckResult[] = []
  const nodeDocuments = renderer.nodeDocuments()
  for (const check of checks.filter(({ scope }) => scope === 'site')) {
    await pause()
    found.push(...verify([check], { ...context, documents: nodeDocuments }))
  }
  const cloudChecks = checks.filter(({ scope }) => scope === 'cloud')
  for (const cloud of plan.clouds) {
    await pause()
    const documents = renderer.cloudDocuments(cloud)
    for (const check of cloudChecks) {
      await pause()
      found.push(...verify([check], { ...context, documents, clouds: [cloud.name] }))
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
