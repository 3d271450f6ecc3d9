/** What the commands that deploy have in common: selection flags, the site from its files, one view of the cluster. */
import type { Command } from 'commander'
import { systemClock } from '../clock/clock.ts'
import type { LiveView } from '../deploy/live-view.ts'
import { siteOfPlan } from '../deploy/site-of-plan.ts'
import type { DeploySite } from '../deploy/world.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { failure } from '../errors/failure.ts'
import type { Connection } from '../kube/connect.ts'
import { unknownCloud } from '../run/findings.ts'
import type { Selection } from '../run/selection.ts'
import type { StageContext } from '../run/stage.ts'
import { type ClusterFlags, openCluster } from './cluster.ts'
import type { Io } from './io.ts'
import { formatFindings } from './output/findings.ts'
import { failOnErrors, type Planning, type PlanningOptions, planFromFiles } from './planning.ts'

export interface SelectionFlags {
  readonly cloud?: readonly string[]
  readonly stage?: readonly string[]
  readonly from?: readonly string[]
  readonly until?: readonly string[]
  readonly skip?: readonly string[]
}

export const collect = (word: string, before: readonly string[] = []): readonly string[] => [...before, word]

export function withSelectionFlags(command: Command): Command {
  return command
    .option('--cloud <name>', 'only this cloud, and what the clouds share; may be repeated', collect)
    .option('--stage <name>', 'only this stage; may be repeated', collect)
    .option('--from <stage>', 'this stage and everything that needs it; may be repeated', collect)
    .option('--until <stage>', 'this stage and everything before it; may be repeated', collect)
    .option('--skip <stage>', 'not this stage; may be repeated', collect)
}

export function parseSelection({ cloud, stage, from, until, skip }: SelectionFlags): Selection {
  return {
    ...(cloud && { clouds: cloud }),
    ...(stage && { stages: stage }),
    ...(from && { from }),
    ...(until && { until }),
    ...(skip && { skip }),
  }
}

export interface Deployment {
  readonly planning: Planning
  readonly site: DeploySite
  readonly connection: Connection
  readonly lookout: LiveView
}

/** Plans, connects, and closes what was opened, whatever happens in between. */
export async function withDeployment<T>(
  options: PlanningOptions & ClusterFlags,
  io: Io,
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  const planning = await planFromFiles(options, io)
  failOnErrors(planning)
  io.stderr(formatFindings(planning.findings, io.colour.stderr))
  const { openLiveView } = await import('../deploy/live-view.ts')
  const connection = await openCluster(options, io)
  const lookout = openLiveView({ client: connection.client })
  try {
    return await work({ planning, site: siteOfPlan(planning.plan), connection, lookout })
  } finally {
    await lookout.close()
    await connection.close()
  }
}

/** For looks that belong to no stage: they say nothing and stop with the program. */
export function silentContext(io: Io): StageContext {
  return { emit: () => undefined, stop: io.stop, clock: systemClock }
}

/** The cloud of `--cloud`, for commands that work on one. */
export function findCloud<T extends { readonly name: string }>(clouds: readonly T[], name: string): T {
  const found = clouds.find((cloud) => cloud.name === name)
  if (found) return found
  const known = clouds.map((cloud) => cloud.name)
  throw failure(unknownCloud, { cloud: name, known, nearest: closestMatch(name, known) })
}
