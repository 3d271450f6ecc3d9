/** Shares what deploying commands need: selection options, the plan from its files, one live view of the cluster. */
import type { Command } from 'commander'
import { systemClock } from '../clock/clock.ts'
import type { LiveView } from '../deploy/live-view.ts'
import { closestMatch } from '../errors/closest-match.ts'
import { wrongUse } from '../errors/common.ts'
import { failure } from '../errors/failure.ts'
import type { Connection } from '../kube/connect.ts'
import type { RenderedDocument } from '../render/render.ts'
import { unknownCloud } from '../run/findings.ts'
import type { Selection } from '../run/selection.ts'
import type { StageContext } from '../run/stage.ts'
import { type ClusterFlags, openCluster, withClusterFlags } from './cluster.ts'
import type { Io } from './io.ts'
import { printFindings } from './output/findings.ts'
import { failOnErrors, type Planning, type PlanningOptions, planFromFiles } from './planning.ts'
import { once, repeatable } from './repeatable.ts'

export interface SelectionFlags extends CloudFlags {
  readonly stage?: readonly string[]
  readonly fromStage?: readonly string[]
  readonly until?: readonly string[]
  readonly skip?: readonly string[]
}

export interface CloudFlags {
  readonly cloud?: readonly string[]
  readonly namespace?: string
}

/** `--cloud` and `-n`: a cloud is a namespace, so both name clouds. `use` describes `--cloud`. */
export function withCloudFlags(command: Command, use: string): Command {
  return withClusterFlags(command, 'choose the cloud by its namespace, as with --cloud').option(
    '--cloud <cloud>',
    `${use}; may be repeated`,
    repeatable,
  )
}

/** As above, for commands that work on one cloud. */
export function withOneCloudFlag(command: Command, use: string): Command {
  return withClusterFlags(command, 'choose the cloud by its namespace, as with --cloud').option(
    '--cloud <cloud>',
    use,
    once,
  )
}

export interface NamedCloud {
  readonly name: string
  readonly namespace?: string
}

/** The names of the clouds that the options select; empty without a selection. Refuses what is no cloud. */
export function selectClouds(clouds: readonly NamedCloud[], { cloud = [], namespace }: CloudFlags): readonly string[] {
  const named = cloud.map((name) => findCloud(clouds, name).name)
  if (namespace === undefined) return named
  const found = clouds.find((candidate) => candidate.namespace === namespace)
  if (found) return [...new Set([...named, found.name])]
  const known = clouds.flatMap((candidate) => candidate.namespace ?? [])
  throw failure(unknownCloud, { cloud: namespace, known, nearest: closestMatch(namespace, known), by: 'namespace' })
}

/** Finds the cloud of `--cloud` or `-n` for commands that work on one cloud. */
export function selectOneCloud<T extends NamedCloud>(
  clouds: readonly T[],
  { cloud, namespace }: { readonly cloud?: string; readonly namespace?: string },
  command: string,
): T {
  const flags = { ...(cloud !== undefined && { cloud: [cloud] }), ...(namespace !== undefined && { namespace }) }
  const [name, ...others] = selectClouds(clouds, flags)
  if (name !== undefined && others.length === 0) return findCloud(clouds, name)
  const reason = name === undefined ? 'name a cloud with --cloud or -n' : '--cloud and -n name two clouds'
  throw failure(wrongUse, { reason, command })
}

export function withSelectionFlags(command: Command): Command {
  return withCloudFlags(command, 'limit to this cloud and what the clouds share')
    .option('--stage <stage>', 'run only this stage; may be repeated', repeatable)
    .option('--from-stage <stage>', 'run this stage and everything that depends on it; may be repeated', repeatable)
    .option('--until <stage>', 'run this stage and everything before it; may be repeated', repeatable)
    .option('--skip <stage>', 'skip this stage; may be repeated', repeatable)
}

export function parseSelection(clouds: readonly NamedCloud[], flags: SelectionFlags): Selection {
  const { stage, fromStage, until, skip } = flags
  return {
    clouds: selectClouds(clouds, flags),
    ...(stage && { stages: stage }),
    ...(fromStage && { from: fromStage }),
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
  printFindings(planning.findings, io)
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

/** Finds a cloud by its name. */
function findCloud<T extends NamedCloud>(clouds: readonly T[], name: string): T {
  const found = clouds.find((cloud) => cloud.name === name)
  if (found) return found
  const known = clouds.map((cloud) => cloud.name)
  throw failure(unknownCloud, { cloud: name, known, nearest: closestMatch(name, known) })
}
