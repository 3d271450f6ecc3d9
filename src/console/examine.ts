/** Runs the checks of `verify` and the rules of the doctor over the cluster, in parts: requests are answered in between. */
import type { Snapshot } from '../api/snapshot.ts'
import { diagnose } from '../doctor/diagnose.ts'
import { rules } from '../doctor/rules.ts'
import type { Plan } from '../plan/plan.ts'
import { renderDocuments } from '../render/render.ts'
import { checks } from '../verify/checks.ts'
import { type CheckResult, verify } from '../verify/verify.ts'
import type { LiveSource } from './live-source.ts'
import type { Examination } from './views/view-input.ts'

export async function examineCluster(
  source: LiveSource,
  evidence: Snapshot,
  plan: Plan | undefined,
  now: number,
): Promise<Examination> {
  const found = plan ? await verifyInParts(plan, source, now) : []
  await yieldToRequests()
  return {
    checks: found,
    report: diagnose({ snapshot: evidence, now, ...(plan && { plan }) }, rules),
    time: new Date(now).toISOString(),
  }
}

async function verifyInParts(plan: Plan, source: LiveSource, now: number): Promise<readonly CheckResult[]> {
  const context = { plan, documents: renderDocuments(plan), live: source.index(), unread: source.unread(), now }
  const siteChecks = checks.filter(({ scope }) => scope === 'site')
  const cloudChecks = checks.filter(({ scope }) => scope === 'cloud')
  const found = [...verify(siteChecks, context)]
  for (const { name } of plan.clouds) {
    await yieldToRequests()
    found.push(...verify(cloudChecks, { ...context, clouds: [name] }))
  }
  return found
}

function yieldToRequests(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
