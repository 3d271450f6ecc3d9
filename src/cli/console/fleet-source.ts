/** Reads the state of every site of a fleet for the overview, as `stackloom status --fleet` does. */
import type { FleetSite } from '../../api/fleet.ts'
import { asList, asRecord } from '../../api/json.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import type { SiteLine } from '../../console/documents/overview.ts'
import { commandLine } from '../../console/views/view-input.ts'
import { wrongUse } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { firstProblem, type SiteOutcome, siteVerdict, worstFirst } from '../../fleet/site-outcome.ts'
import { siteColumns } from '../fleet/site-columns.ts'
import { openFleet, runAtSite, siteOptions } from '../fleet/sites.ts'
import type { Io } from '../io.ts'
import type { StatusOptions } from '../status/command.ts'

export interface FleetSource {
  /** The site that the other views show. */
  readonly shown: FleetSite
  readonly read: (signal: AbortSignal) => Promise<readonly SiteLine[]>
}

const AT_ONCE = 8

/** `name`: the site to show; without one, the first. */
export async function openFleetSource(file: string, name: string | undefined, io: Io): Promise<FleetSource> {
  const { sites } = await openFleet(file, io)
  const shown = name === undefined ? sites[0] : sites.find((site) => site.name === name)
  if (!shown) {
    const reason = `${file} has no site ${name ?? ''}: it has ${sites.map((site) => site.name).join(', ')}`
    throw failure(wrongUse, { reason, command: 'stackloom console' })
  }
  return {
    shown,
    read: async (signal) => {
      const { status } = await import('../status/command.ts')
      const outcomes = await mapConcurrently(sites, AT_ONCE, (site) => {
        const stopping = Object.create(io, { stop: { value: AbortSignal.any([io.stop, signal]) } }) as Io
        const options = siteOptions<StatusOptions>({ output: 'json' }, site)
        return runAtSite(site, stopping, (atSite) => status(options, atSite))
      })
      return worstFirst(outcomes).map((outcome) => describeSite(outcome, outcome.site === shown.name, file))
    },
  }
}

function describeSite(outcome: SiteOutcome, isShown: boolean, file: string): SiteLine {
  const { site, result } = outcome
  const { cells, problem } = siteColumns.status
  const [, total, ready] = cells(result).map(Number)
  const reason = firstProblem(outcome, problem?.(result))
  const clouds = asList(result['clouds'])
    .map(asRecord)
    .flatMap(({ cloud, objects }) => (typeof cloud === 'string' ? [`${cloud} ${judgeObjects(asList(objects))}`] : []))
  return {
    id: site,
    verdict: siteVerdict(outcome),
    isShown,
    ...(clouds.length > 0 && { clouds: clouds.join(', ') }),
    ...(total !== undefined && ready !== undefined && { objects: { ready, total } }),
    ...(reason !== '' && { problem: reason }),
    command: commandLine('console', '--fleet', file, '--site', site),
  }
}

function judgeObjects(objects: readonly unknown[]): string {
  const kinds = objects.map((object) => asRecord(object)['kind'])
  return kinds.includes('failed') ? 'failed' : kinds.includes('progressing') ? 'progressing' : 'ready'
}
