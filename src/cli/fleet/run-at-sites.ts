/** Runs a command at every site of a fleet and prints one row per site, worst first. */
import pc from 'picocolors'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import { findSharedSubnets } from '../../fleet/shared-routers.ts'
import {
  firstProblem,
  fleetExitCode,
  type SiteOutcome,
  type SiteVerdict,
  siteVerdict,
  worstFirst,
} from '../../fleet/site-outcome.ts'
import type { PlanJson } from '../../plan/plan.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
import type { FleetCommand, FleetFlags } from './fleet-option.ts'
import { siteColumns } from './site-columns.ts'
import { type OpenedFleet, openFleet, runAtSite, siteOptions } from './sites.ts'

/** A site waits for its cluster most of the time, but a plan of a large site takes memory. */
const AT_ONCE = 8

export async function runAtSites<O extends FleetFlags>(
  command: FleetCommand,
  options: O,
  io: Io,
  run: (options: O, io: Io) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { fleet: file = '', output } = options
  const fleet = await openFleet(file, io)
  const outcomes = await mapConcurrently(fleet.sites, AT_ONCE, (site) =>
    runAtSite(site, io, (atSite) => run(siteOptions(options, site), atSite)),
  )
  const overlaps = command === 'plan' ? findOverlaps(fleet, outcomes) : []
  const judged = outcomes.map((outcome) => addOverlaps(outcome, overlaps))
  const ordered = worstFirst(judged)
  const findings = [...fleet.findings, ...overlaps]
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialiseResult({ fleet: fleet.name, command, sites: ordered.map(toJson) }, output, findings)
      : formatOutcomes(command, ordered, io),
  )
  printFindings(findings, io)
  return hasErrors(findings) ? 1 : fleetExitCode(judged)
}

/** The row of a site counts its overlaps with other sites, too. */
function addOverlaps(outcome: SiteOutcome, overlaps: readonly Finding[]): SiteOutcome {
  const { site, exitCode, result } = outcome
  const shared = overlaps.filter(({ owners = [] }) => owners.some((owner) => owner.startsWith(`${site} `)))
  if (shared.length === 0) return outcome
  const isWrong = exitCode === 0 && hasErrors(shared)
  return {
    site,
    exitCode: isWrong ? 1 : exitCode,
    result: { ...result, findings: [...(result.findings ?? []), ...shared] },
  }
}

function findOverlaps({ sites }: OpenedFleet, outcomes: readonly SiteOutcome[]): readonly Finding[] {
  const planned = sites.flatMap(({ name, routers = [] }, index) => {
    const result = outcomes[index]?.result
    // A site that could not be planned has findings only.
    return result && 'clouds' in result ? [{ site: name, routers, plan: result as unknown as PlanJson }] : []
  })
  return findSharedSubnets(planned)
}

function toJson(outcome: SiteOutcome): object {
  const { site, exitCode, result } = outcome
  return { site, verdict: siteVerdict(outcome), exitCode, result }
}

function formatOutcomes(command: FleetCommand, outcomes: readonly SiteOutcome[], io: Io): string {
  const { headers, cells, problem } = siteColumns[command]
  const rows = outcomes.map((outcome) => {
    const counts = cells(outcome.result)
    return [
      outcome.site,
      formatVerdict(siteVerdict(outcome), io),
      ...headers.map((_, index) => String(counts[index] ?? '-')),
      oneLine(firstProblem(outcome, problem?.(outcome.result))) || '-',
    ]
  })
  return formatTable(['SITE', 'VERDICT', ...headers, 'FIRST PROBLEM'], rows, io.columns, io.colour.stdout)
}

function formatVerdict(verdict: SiteVerdict, io: Io): string {
  const { green, red, yellow } = pc.createColors(io.colour.stdout)
  const colour = { failed: red, invalid: red, unreachable: yellow, partial: yellow, fine: green }[verdict]
  return colour(verdict)
}
