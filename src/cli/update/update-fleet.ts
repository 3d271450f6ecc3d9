/**
 * Implements `stackloom update --fleet`: canaries, a pause, then the other sites. `verify` and `doctor` of a site must be
 * clean before the next cloud is updated. The versions in the clusters are the record, so the same command resumes.
 */
import type { FleetSite } from '../../api/fleet.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import { type Clock, systemClock } from '../../clock/clock.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { type Finding, finding, hasErrors } from '../../errors/finding.ts'
import {
  canaryUnreachable,
  fleetNeedsConsent,
  siteNotClean,
  siteUnreachable,
  updateFailed,
} from '../../fleet/findings.ts'
import { type CloudVersions, canaryNames, planRollout, type RolloutStep, remainingPause } from '../../fleet/rollout.ts'
import { firstProblem, type SiteOutcome, siteVerdict } from '../../fleet/site-outcome.ts'
import { parseDuration } from '../duration.ts'
import { siteColumns } from '../fleet/site-columns.ts'
import { openFleet, runAtSite, siteOptions } from '../fleet/sites.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { formatDuration } from '../output/text.ts'
import { confirmByName } from '../questions.ts'
import type { UpdateOptions } from './command.ts'

type SiteCommand = (options: UpdateOptions, io: Io) => Promise<ExitCode>

export interface FleetUpdate {
  /** Prints the versions of the clouds of a site. */
  readonly plan: SiteCommand
  /** Updates one cloud of a site. */
  readonly update: SiteCommand
}

/** `waiting`: not reached. */
type StepOutcome = 'updated' | 'unchanged' | 'failed' | 'waiting'

const AT_ONCE = 8

export async function updateFleet(options: UpdateOptions, io: Io, commands: FleetUpdate): Promise<ExitCode> {
  const fleet = await openFleet(options.fleet ?? '', io)
  const outcomes = await mapConcurrently(fleet.sites, AT_ONCE, (site) =>
    runAtSite(site, io, (atSite) => commands.plan(siteOptions(options, site), atSite)),
  )
  const canaries = canaryNames(fleet.sites)
  const missing = findUnreachable(outcomes, canaries)
  const planned = fleet.sites.map((site, index) => ({
    site,
    clouds: (outcomes[index]?.result['clouds'] ?? []) as readonly CloudVersions[],
  }))
  const steps = planRollout(planned, canaries)
  const open = steps.filter(({ state }) => state !== 'updated')
  printFindings([...fleet.findings, ...missing], io)
  const missingCode = missing.length > 0 ? 3 : 0
  const print = async (done: readonly StepOutcome[], findings: readonly Finding[]): Promise<void> => {
    const { output } = options
    const result = { fleet: fleet.name, clouds: steps.map((step, index) => stepJson(step, done[index] ?? 'waiting')) }
    io.stdout(
      output === 'table'
        ? formatSteps(steps, done, io.columns, io.colour.stdout)
        : await serialiseResult(result, output, [...fleet.findings, ...missing, ...findings]),
    )
  }
  const unchanged = steps.map(({ state }): StepOutcome => (state === 'updated' ? 'unchanged' : 'waiting'))
  if (options.dryRun || open.length === 0) {
    if (options.dryRun) io.stderr('dry run: nothing was changed\n')
    await print(unchanged, [])
    return missingCode
  }
  io.stderr(formatSteps(steps, unchanged, io.columns, io.colour.stderr))
  if (!options.yes && !(await confirmByName('Type the name of the fleet to update it', fleet.name, io)))
    throw failure(fleetNeedsConsent, { fleet: fleet.name, clouds: open.length }, { exitCode: 1 })
  const pauseMs = options.pause ?? parseDuration(fleet.pause) ?? 0
  const { done, findings } = await runSteps({ steps, pauseMs, options, commands, io, clock: systemClock })
  printFindings(findings, io)
  await print(done, findings)
  if (io.stop.aborted) return 130
  return hasErrors(findings) ? 1 : missingCode
}

/** Sites without an answer are left out; a canary without one, or a site that cannot be updated, stops everything. */
function findUnreachable(outcomes: readonly SiteOutcome[], canaries: ReadonlySet<string>): readonly Finding[] {
  const broken = outcomes.filter((outcome) => ['failed', 'invalid'].includes(siteVerdict(outcome)))
  if (broken.length > 0)
    throw new Failure(
      broken.flatMap(({ result }) => result.findings ?? []),
      1,
    )
  return outcomes
    .filter((outcome) => siteVerdict(outcome) === 'unreachable')
    .map((outcome) => {
      const facts = { site: outcome.site, reason: firstProblem(outcome) }
      if (canaries.has(outcome.site)) throw failure(canaryUnreachable, facts, { exitCode: 3 })
      return finding(siteUnreachable, facts)
    })
}

interface Rollout {
  readonly steps: readonly RolloutStep[]
  readonly pauseMs: number
  readonly options: UpdateOptions
  readonly commands: FleetUpdate
  readonly io: Io
  readonly clock: Clock
}

interface RolloutResult {
  readonly done: readonly StepOutcome[]
  /** Why it stopped. */
  readonly findings: readonly Finding[]
}

async function runSteps(rollout: Rollout): Promise<RolloutResult> {
  const { steps, io, clock } = rollout
  const done: StepOutcome[] = []
  const ended: (string | undefined)[] = []
  for (const [index, step] of steps.entries()) {
    const { outcome, findings } = await runStep(step, steps.length - index, rollout)
    if (outcome !== 'waiting') done.push(outcome)
    if (step.isCanary) ended.push(outcome === 'unchanged' ? step.versions.since : new Date(clock.now()).toISOString())
    const isLastCanary = step.isCanary && steps[index + 1]?.isCanary === false
    const closed = findings.length > 0 || !isLastCanary ? findings : await pauseAfter(index, ended, rollout)
    if (closed.length > 0 || io.stop.aborted)
      return { done: steps.map((_, number) => done[number] ?? 'waiting'), findings: closed }
  }
  return { done, findings: [] }
}

interface StepResult {
  readonly outcome: StepOutcome
  readonly findings: readonly Finding[]
}

/** One cloud: checks, update, checks. `left` counts the clouds from this one on. */
async function runStep(step: RolloutStep, left: number, rollout: Rollout): Promise<StepResult> {
  const { options, commands, io } = rollout
  const { site, versions, state } = step
  if (state === 'updated') return { outcome: 'unchanged', findings: await waitUntilClean(step, left - 1, rollout) }
  // A cloud whose update was interrupted may be the reason why its site is not clean.
  const before = state === 'open' ? await waitUntilClean(step, left, rollout) : []
  if (before.length > 0 || io.stop.aborted) return { outcome: 'waiting', findings: before }
  io.stderr(`site ${site.name}, cloud ${versions.cloud}: update to ${versions.wanted}\n`)
  const cloudOptions = { ...siteOptions(options, site), cloud: versions.cloud, yes: true }
  const updated = await runAtSite(site, io, (atSite) => commands.update(cloudOptions, atSite), io.stderr)
  if (io.stop.aborted) return { outcome: 'failed', findings: [] }
  if (updated.exitCode === 0) return { outcome: 'updated', findings: await waitUntilClean(step, left - 1, rollout) }
  const reason = firstProblem(updated) || 'a stage failed'
  return { outcome: 'failed', findings: [finding(updateFailed, { site: site.name, cloud: versions.cloud, reason })] }
}

/** Waits for the rest of the pause, then looks at the canaries once more. */
async function pauseAfter(
  last: number,
  ended: readonly (string | undefined)[],
  rollout: Rollout,
): Promise<readonly Finding[]> {
  const { steps, pauseMs, io, clock } = rollout
  const left = remainingPause(ended, pauseMs, clock.now())
  if (left === 0) return []
  io.stderr(`pause: the canaries run for ${formatDuration(left)} more before other sites follow\n`)
  await clock.sleep(left, io.stop)
  for (const canary of steps.slice(0, last + 1)) {
    const closed = io.stop.aborted ? [] : await waitUntilClean(canary, steps.length - last - 1, rollout)
    if (closed.length > 0) return closed
  }
  return []
}

/** How often `verify` and `doctor` look again: pods of an update settle after its end. */
const CHECK_AGAIN_MS = 5_000

/** Returns why the site is not clean. */
async function waitUntilClean(step: RolloutStep, waiting: number, rollout: Rollout): Promise<readonly Finding[]> {
  const { clock, io, options } = rollout
  const started = clock.elapsed()
  for (;;) {
    const outcome = await checkSite(step.site, rollout)
    if (outcome === undefined || io.stop.aborted) return []
    const left = started + options.checkTimeout - clock.elapsed()
    if (left <= 0) {
      const facts = { site: step.site.name, cloud: step.versions.cloud, waiting, check: outcome.check }
      const problem = siteColumns[outcome.check].problem?.(outcome.found.result)
      const reason = firstProblem(outcome.found, problem) || 'not everything could be read'
      return [finding(siteNotClean, { ...facts, reason })]
    }
    await clock.sleep(Math.min(CHECK_AGAIN_MS, left), io.stop)
  }
}

interface UncleanSite {
  readonly check: 'verify' | 'doctor'
  readonly found: SiteOutcome
}

/** Undefined when both are clean. What could not be read proves nothing, so it counts as not clean. */
async function checkSite(site: FleetSite, { options, io }: Rollout): Promise<UncleanSite | undefined> {
  const { runVerify } = await import('../verify/command.ts')
  const { runDoctor } = await import('../doctor/command.ts')
  const { file, lock, kubeconfig, context, output } = siteOptions(options, site)
  const where = {
    file,
    output,
    ...(lock !== undefined && { lock }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  }
  const verified = await runAtSite(site, io, (atSite) => runVerify({ ...where, probeImage: '' }, atSite))
  if (verified.exitCode !== 0) return { check: 'verify', found: verified }
  const examined = await runAtSite(site, io, (atSite) => runDoctor(where, atSite))
  return examined.exitCode === 0 ? undefined : { check: 'doctor', found: examined }
}

function stepJson({ site, isCanary, versions }: RolloutStep, outcome: StepOutcome): object {
  return { site: site.name, canary: isCanary, ...versions, outcome }
}

function formatSteps(
  steps: readonly RolloutStep[],
  done: readonly StepOutcome[],
  columns: number,
  colour: boolean,
): string {
  const rows = steps.map(({ site, isCanary, versions }, index) => [
    site.name,
    versions.cloud,
    versions.deployed ?? '-',
    versions.wanted ?? '-',
    isCanary ? 'yes' : 'no',
    done[index] ?? 'waiting',
  ])
  return formatTable(['SITE', 'CLOUD', 'FROM', 'TO', 'CANARY', 'OUTCOME'], rows, columns, colour)
}
