/**
 * Migrates all instances away from a host, a few at a time, and confirms those that were migrated with a stop.
 *
 * Keeps no state of its own: what runs already is waited for, so an interrupted drain goes on.
 */
import { failure, formatError } from '../../errors/failure.ts'
import type { ComputeHostApi, ComputeService, Instance, Migration } from '../../openstack/compute-host.ts'
import { CloudApiError } from '../../openstack/session.ts'
import type { StageContext } from '../../run/stage.ts'
import { drainIncomplete } from '../findings/host-removal.ts'

export interface DrainLimits {
  /** Instances that move at the same time. */
  readonly parallel: number
  /** How long one instance may move. */
  readonly instanceMs: number
  readonly pollMs: number
}

/** How an instance can leave the host by its status. */
const moves: Readonly<Record<string, 'live' | 'cold'>> = { ACTIVE: 'live', PAUSED: 'live', SHUTOFF: 'cold' }

const isMoving = ({ status, task }: Instance): boolean =>
  task !== undefined || status === 'MIGRATING' || status === 'RESIZE'

export async function drainHost(
  host: string,
  api: ComputeHostApi,
  service: ComputeService,
  limits: DrainLimits,
  context: StageContext,
): Promise<void> {
  const startedAt = new Map<string, number>()
  const stuck = new Map<string, string>()
  let total = 0
  for (;;) {
    context.stop.throwIfAborted()
    const instances = await api.listInstances(service)
    // After the instances: one that leaves the host in between has a migration that is still open.
    const migrations = await api.listMigrations(service)
    total = Math.max(total, instances.length)
    if (instances.length === 0 && migrations.length === 0) return
    await confirmMoved(api, migrations, stuck)
    for (const instance of instances) judge(instance, startedAt, stuck, limits, context)
    const open = instances.filter(({ id }) => !stuck.has(id))
    const moving = open.filter(isMoving)
    for (const instance of open.filter((candidate) => !isMoving(candidate)).slice(0, limits.parallel - moving.length))
      await start(api, instance, startedAt, stuck, context)
    const done = total - instances.length
    const message = `${done} of ${total} instances moved${stuck.size > 0 ? `, ${stuck.size} cannot be moved` : ''}`
    context.emit({ kind: 'progress', message, done, total })
    const left = [...instances.map(({ id }) => id), ...migrations.map(({ instance }) => instance)]
    if (left.every((id) => stuck.has(id)))
      throw failure(drainIncomplete, { host, reasons: [...stuck.values()] }, { exitCode: 1 })
    await context.clock.sleep(limits.pollMs, context.stop)
  }
}

/** Notes instances that no longer move: a migration that failed leaves the instance as it was. */
function judge(
  instance: Instance,
  startedAt: Map<string, number>,
  stuck: Map<string, string>,
  { instanceMs }: DrainLimits,
  { clock }: StageContext,
): void {
  const { id, name, status } = instance
  const began = startedAt.get(id)
  if (stuck.has(id)) return
  if (isMoving(instance)) {
    if (began === undefined) startedAt.set(id, clock.elapsed())
    else if (clock.elapsed() - began > instanceMs)
      stuck.set(id, `${name} has been moving for ${Math.round(instanceMs / 1000)} s`)
  } else if (began !== undefined) stuck.set(id, `the migration of ${name} failed, it is ${status}`)
  else if (moves[status] === undefined) stuck.set(id, `${name} is ${status}`)
}

async function start(
  api: ComputeHostApi,
  { id, name, status }: Instance,
  startedAt: Map<string, number>,
  stuck: Map<string, string>,
  { clock }: StageContext,
): Promise<void> {
  startedAt.set(id, clock.elapsed())
  try {
    await (moves[status] === 'live' ? api.liveMigrate(id) : api.migrate(id))
  } catch (thrown) {
    // Another one may work: its flavor fits elsewhere.
    if (!(thrown instanceof CloudApiError) || thrown.status >= 500) throw thrown
    stuck.set(id, `${name}: ${formatError(thrown)}`)
  }
}

/** An instance that was migrated with a stop keeps its disk on this host until it is confirmed. */
async function confirmMoved(
  api: ComputeHostApi,
  migrations: readonly Migration[],
  stuck: Map<string, string>,
): Promise<void> {
  for (const { instance, type } of migrations.filter(({ status }) => status === 'finished')) {
    // Whether a resize is kept is the decision of the instance's owner.
    if (type !== 'migration') stuck.set(instance, `instance ${instance} waits for the confirmation of its ${type}`)
    else await ignoreStatus(api.confirm(instance), 404, 409)
  }
}

/** For an object that was changed or deleted since it was listed. */
export async function ignoreStatus(request: Promise<void>, ...statuses: readonly number[]): Promise<void> {
  try {
    await request
  } catch (thrown) {
    if (!(thrown instanceof CloudApiError) || !statuses.includes(thrown.status)) throw thrown
  }
}
