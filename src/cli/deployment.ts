/** Shares what deploying commands need: selection options, the plan from its files, one live view of the cluster. */
import type { Command } from 'commander'
import { systemClock } from '../clock/clock.ts'
import type { LiveView } from '../deploy/live-view.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { failure } from '../errors/failure.ts'
import type { Connection } from '../kube/connect.ts'
import type { RenderedDocument } from '../render/render.ts'
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
    .option('--cloud <name>', 'limit to this cloud and what the clouds share; may be repeated', collect)
    .option('--stage <name>', 'run only this stage; may be repeated', collect)
    .option('--from <stage>', 'run this stage and everything that depends on it; may be repeated', collect)
    .option('--until <stage>', 'run this stage and everything before it; may be repeated', collect)
    .option('--skip <stage>', 'skip this stage; may be repeated', collect)
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
  readonly documents: readonly RenderedDocument[]
  readonly connection: Connection
  readonly view: LiveView
}

/** Plans, renders and connects; closes the connection whatever the work does. */
export async function withDeployment<T>(
  options: PlanningOptions & ClusterFlags,
  io: Io,
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  const planning = await planFromFiles(options, io, { clusterRelease: () => findClusterRelease(options, io) })
  failOnErrors(planning)
  io.stderr(formatFindings(planning.findings, io.colour.stderr))
  const { renderDocuments } = await import('../render/render.ts')
  const { openLiveView } = await import('../deploy/live-view.ts')
  const connection = await openCluster(options, io)
  const view = openLiveView(connection.client)
  try {
    return await work({ planning, documents: renderDocuments(planning.plan), connection, view })
  } finally {
    await view.close()
    await connection.close()
  }
}

/** Undefined for a cluster without the operator or with an unknown release; a cluster that fails is reported later. */
async function findClusterRelease(options: ClusterFlags, io: Io): Promise<string | undefined> {
  const { liveSlotTable } = await import('./slot-source.ts')
  return liveSlotTable(options, io).then(
    ({ release }) => release.name,
    () => undefined,
  )
}

/** For reads outside of a stage: emits no events and stops with the program. */
export function silentContext(io: Io): StageContext {
  return { emit: () => undefined, stop: io.stop, clock: systemClock }
}

/** Finds the cloud of `--cloud` for commands that work on one cloud. */
export function findCloud<T extends { readonly name: string }>(clouds: readonly T[], name: string): T {
  const found = clouds.find((cloud) => cloud.name === name)
  if (found) return found
  const known = clouds.map((cloud) => cloud.name)
  throw failure(unknownCloud, { cloud: name, known, nearest: closestMatch(name, known) })
}
