/**
 * Restores one cloud from a checked archive, in stages: Reservations before IPSets, so that every host gets its address
 * back; databases before the services that read them. The same command resumes. Writes only to a namespace that was empty.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName } from '../../api/raw-object.ts'
import type { Manifest } from '../../backup/archive.ts'
import { BACKUP_CONFIG, backupKinds, CONTROL_PLANE, outsideKinds, SERVICE } from '../../backup/backup-kinds.ts'
import { findTakenDecisions, recordCloud } from '../../backup/check-lock.ts'
import {
  addressesDiffer,
  decisionsTaken,
  dumpsNotRestored,
  missingKind,
  namespaceNotEmpty,
  otherSite,
} from '../../backup/findings.ts'
import { compareAddresses, type HeldAddress, heldAddresses, isInBackup } from '../../backup/select-objects.ts'
import { renderVolumeRestore, VELERO_BACKUP, veleroReadiness } from '../../backup/velero.ts'
import { systemClock } from '../../clock/clock.ts'
import { objectInTheWay } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Lock } from '../../plan/lock.ts'
import { writeLock } from '../../plan/written-lock.ts'
import { CLOUD_LABEL } from '../../render/labels.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { objectReadiness } from '../../verify/readiness/readiness.ts'
import { defaultGrace, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { notReady } from '../findings/up.ts'
import {
  addObjects,
  ensureSystemNamespace,
  type Inventory,
  parseRecordedLock,
  readInventories,
  readInventory,
  writeInventory,
} from '../inventory.ts'
import { type LiveView, waitUntilReady } from '../live-view.ts'
import { distinctKinds, FIELD_MANAGER, objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'
import { type ExecInPod, restoreDatabases, waitFor } from './database-dumps.ts'
import { RESTORING, restoreObject } from './restore-object.ts'

export interface CheckedArchive {
  readonly manifest: Manifest
  /** Secrets included. */
  readonly objects: readonly KubeObject[]
  readonly addresses: readonly HeldAddress[]
  /** Labels and annotations of the cloud's namespace. */
  readonly namespace: KubeObject
  readonly inventory: Inventory
  readonly lock?: Lock
}

export interface RestoreOptions {
  readonly client: KubeClient
  readonly view: LiveView
  readonly archive: CheckedArchive
  readonly exec: ExecInPod
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
}

export interface RestoreReport extends RunReport {
  readonly findings: readonly Finding[]
}

/** On the namespace after a restore. */
const RESTORED = 'stackloom.dev/restored'
/** Upstream's annotation: only databases, message queues and OVN start while it is there. */
const STAGE_ANNOTATION = 'core.openstack.org/deployment-stage'
const INFRASTRUCTURE = 'OpenStackControlPlaneInfrastructureReady'

export async function restoreCloud(options: RestoreOptions): Promise<RestoreReport> {
  const { archive, run, sink, stop, client } = options
  const { cloud, dumps, volumes } = archive.manifest
  const isStaged = Boolean(await client.resource(BACKUP_CONFIG))
  const hasDatabases = dumps.length > 0 && volumes !== undefined && isStaged
  const proof = ['proof', (context: StageContext) => proveAddresses(options, context)] as const
  const all: readonly (readonly [string, (context: StageContext) => Promise<void>])[] = [
    ['check', () => checkTarget(options)],
    ['namespace', (context) => prepareNamespace(options, context)],
    ...(volumes ? [['volumes', (context: StageContext) => restoreVolumes(options, volumes, context)] as const] : []),
    ['configuration', (context) => applyOrders(options, [10], context)],
    ['networks', (context) => applyOrders(options, [20], context)],
    ['addresses', (context) => restoreAddresses(options, context)],
    ['control-plane', (context) => restoreControlPlane(options, hasDatabases, context)],
    ...(hasDatabases ? [['databases', (context: StageContext) => runDatabases(options, context)] as const] : []),
    ['services', (context) => startServices(options, context)],
    ['data-plane', (context) => applyOrders(options, [60, 70, 80], context)],
    proof,
  ]
  // A restore that was killed after its last write has nothing left to do, and what changed since then is not the backup's.
  const steps = (await isRestored(options)) ? [proof] : all
  const stages = steps.map(([name, work], index): Stage => {
    const before = steps[index - 1]?.[0]
    const after = before === undefined ? [] : [{ id: stageId(before, cloud), why: 'later objects need earlier ones' }]
    return { id: stageId(name, cloud), name, cloud, after, locks: [], work }
  })
  const report = await runStages({ run, what: `restore ${cloud}`, stages, sink, clock: systemClock, stop })
  const isLost = dumps.length > 0 && !hasDatabases
  return { ...report, findings: isLost ? [finding(dumpsNotRestored, { databases: dumps })] : [] }
}

async function isRestored({ client, archive }: RestoreOptions): Promise<boolean> {
  const { namespace, name } = archive.manifest
  const live = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  const { [RESTORED]: restored, [RESTORING]: restoring } = live?.metadata.annotations ?? {}
  return restored === name && restoring === undefined
}

/** Refuses a namespace with objects of a cloud, unless this restore has made them. */
async function checkTarget({ client, archive }: RestoreOptions): Promise<void> {
  const { manifest, objects } = archive
  const { namespace, name } = manifest
  await checkRecords(client, archive)
  const kinds = distinctKinds(objects)
  const served = await Promise.all(kinds.map(async (kind) => Boolean(await client.resource(kind))))
  const missing = kinds.filter((_, index) => !served[index]).map(({ kind }) => kind)
  if (missing.length > 0) throw failure(missingKind, { kinds: missing }, { exitCode: 1 })
  await checkOutside(client, archive)
  const live = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  if (!live || live.metadata.annotations?.[RESTORING] === name) return
  const lists = await Promise.all(
    backupKinds.map(async (kind) => {
      if (!(await client.resource(kind))) return []
      const { items } = await client.list(kind, { namespace })
      return items
        .map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }) as KubeObject)
        .filter((object) => isInBackup(object, kind))
    }),
  )
  const found = lists.flat().map(formatObjectName)
  if (found.length > 0) throw failure(namespaceNotEmpty, { namespace, objects: found }, { exitCode: 1 })
}

/** Refuses pools and advertisements that exist and are not of this cloud: `down` would delete them with it. */
async function checkOutside(client: KubeClient, { manifest, objects }: CheckedArchive): Promise<void> {
  const { cloud, name: backup } = manifest
  for (const object of objects.filter(({ kind }) => outsideKinds.some((outside) => outside.kind === kind))) {
    const live = await client.get(objectRef(object))
    const { labels, annotations } = live?.metadata ?? {}
    if (!live || labels?.[CLOUD_LABEL] === cloud || annotations?.[RESTORING] === backup) continue
    const { namespace = '', name } = object.metadata
    const owner = labels?.[CLOUD_LABEL] === undefined ? 'no cloud has it' : `it belongs to ${labels[CLOUD_LABEL]}`
    throw failure(objectInTheWay, { kind: object.kind, namespace, name, owner }, { exitCode: 1 })
  }
}

/** Refuses a cluster of another site, a namespace of another cloud, and decisions that were made since. */
async function checkRecords(client: KubeClient, { manifest, lock }: CheckedArchive): Promise<void> {
  const { site, cloud, namespace } = manifest
  const inventories = await readInventories(client)
  const foreign = inventories.find((inventory) => inventory.site !== site)
  if (foreign) throw failure(otherSite, { backup: site, cluster: foreign.site }, { exitCode: 1 })
  const recorded = parseRecordedLock(inventories.find((inventory) => inventory.cloud === undefined)?.lock)
  const conflicts = [
    ...findTakenNamespace(inventories, cloud, namespace),
    ...(lock && recorded ? findTakenDecisions(lock, recorded, cloud) : []),
  ]
  if (conflicts.length > 0) throw failure(decisionsTaken, { cloud, conflicts }, { exitCode: 1 })
}

function findTakenNamespace(inventories: readonly Inventory[], cloud: string, namespace: string): readonly string[] {
  return inventories.flatMap((inventory) => {
    if (inventory.cloud === undefined || (inventory.cloud === cloud) === (inventory.namespace === namespace)) return []
    return inventory.cloud === cloud
      ? [`namespace: ${inventory.namespace} now, ${namespace} in the backup`]
      : [`namespace ${namespace} belongs to ${inventory.cloud}`]
  })
}

/** The inventory comes first, as in every deployment: what is created after it can be removed by `down`. */
async function prepareNamespace(options: RestoreOptions, context: StageContext): Promise<void> {
  const { client, archive } = options
  const { namespace, name, cloud } = archive.manifest
  const object = { ...archive.namespace, metadata: { ...archive.namespace.metadata, name: namespace } }
  await restoreObject(client, object, name, context)
  await ensureSystemNamespace(client)
  await writeInventory(client, addObjects(await readInventory(client, cloud), archive.inventory))
  const shared = await readInventory(client)
  const recorded = parseRecordedLock(shared?.lock)
  if (shared && recorded && archive.lock)
    await writeInventory(client, { ...shared, lock: writeLock(recordCloud(recorded, archive.lock, cloud)) })
}

async function restoreVolumes(
  { client, archive: { manifest } }: RestoreOptions,
  backup: NonNullable<Manifest['volumes']>,
  context: StageContext,
): Promise<void> {
  const [modifiers, restore] = renderVolumeRestore({ backup, namespace: manifest.namespace })
  const ref = objectRef(restore)
  // Velero finds it in its storage after a while. Nothing is written to a namespace that does not have it.
  await waitFor(context, `Velero Backup ${backup.namespace}/${backup.name}`, () =>
    client.get({ ...VELERO_BACKUP, ...backup }),
  )
  if (!(await client.get(ref))) {
    for (const object of [modifiers, restore]) {
      await retry(() => client.apply(object, { fieldManager: FIELD_MANAGER }), context)
      context.emit({ kind: 'applied', change: 'created', object: objectRef(object) })
    }
  }
  await waitFor(context, `Velero Restore ${backup.namespace}/${backup.name}`, async () => {
    const verdict = veleroReadiness(await client.get(ref), backup.name)
    if (verdict.kind === 'failed') throw failure(notReady, verdict, { exitCode: 1 })
    return verdict.kind === 'ready' ? true : undefined
  })
}

const orders = new Map([...backupKinds, ...outsideKinds].map(({ kind, order }) => [kind, order]))

async function applyOrders(options: RestoreOptions, wanted: readonly number[], context: StageContext): Promise<void> {
  const { client, archive } = options
  const { objects, manifest } = archive
  for (const order of wanted) {
    for (const object of objects) {
      if (orders.get(object.kind) === order) await restoreObject(client, object, manifest.name, context)
    }
  }
}

async function restoreAddresses(options: RestoreOptions, context: StageContext): Promise<void> {
  await applyOrders(options, [30, 40], context)
  await waitForAddresses(options, 'IPSet', context)
}

async function restoreControlPlane(options: RestoreOptions, isStaged: boolean, context: StageContext): Promise<void> {
  const { client, archive } = options
  const planes = archive.objects.filter(({ kind }) => kind === CONTROL_PLANE.kind)
  for (const plane of planes) {
    const { annotations } = plane.metadata
    const staged = { ...annotations, [STAGE_ANNOTATION]: 'infrastructure-only' }
    const object = isStaged ? { ...plane, metadata: { ...plane.metadata, annotations: staged } } : plane
    await restoreObject(client, object, archive.manifest.name, context)
  }
  // The control plane may wait for users of its message queues.
  await applyOrders(options, [51, 52], context)
  for (const plane of isStaged ? planes : []) {
    await waitFor(context, `the databases of ${formatObjectName(plane)}`, async () => {
      const live = await client.get(objectRef(plane))
      const isRunning = live?.metadata.annotations?.[STAGE_ANNOTATION] === undefined
      return live && (isRunning || findCondition(live, INFRASTRUCTURE)?.status === 'True') ? live : undefined
    })
  }
}

async function runDatabases(options: RestoreOptions, context: StageContext): Promise<void> {
  const { client, archive, exec } = options
  const { namespace, dumps, name } = archive.manifest
  const planes = await controlPlanes(options)
  // After a restart the services may run already, on the restored databases.
  if (planes.every(({ metadata }) => metadata.annotations?.[STAGE_ANNOTATION] === undefined)) return
  await applyOrders(options, [60], context)
  await restoreDatabases(client, { namespace, dumps, backup: name }, exec, context)
}

async function controlPlanes({ client, archive }: RestoreOptions): Promise<readonly KubeObject[]> {
  const { items } = await client.list(CONTROL_PLANE, { namespace: archive.manifest.namespace })
  return items.map((item) => ({ ...item, ...CONTROL_PLANE }) as KubeObject)
}

async function startServices(options: RestoreOptions, context: StageContext): Promise<void> {
  const { client, view, archive } = options
  const { namespace } = archive.manifest
  const planes = await controlPlanes(options)
  for (const plane of planes) {
    if (plane.metadata.annotations?.[STAGE_ANNOTATION] === undefined) continue
    const patch = { metadata: { annotations: { [STAGE_ANNOTATION]: null } } }
    await retry(() => client.patch(objectRef(plane), patch, { type: 'merge', fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'changed', object: objectRef(plane) })
  }
  await view.watch([CONTROL_PLANE, SERVICE], context)
  const judge = (): Readiness => {
    const around = view.index(namespace)
    const settings = { around, now: context.clock.now(), grace: defaultGrace, nodes: [] }
    return worst(planes.map((plane) => objectReadiness(objectRef(plane), settings)))
  }
  await waitUntilReady(judge, view, context, namespace)
}

/** How long controllers may take to assign what the objects already say. */
const ADDRESS_MS = 300_000

async function waitForAddresses(
  options: RestoreOptions,
  kind: 'IPSet' | 'Service',
  context: StageContext,
): Promise<void> {
  const { client, archive } = options
  const { namespace } = archive.manifest
  const before = archive.addresses.filter(({ holder }) => holder.startsWith(`${kind} `))
  if (before.length === 0) return
  const gvk = kind === 'Service' ? SERVICE : { apiVersion: 'network.openstack.org/v1beta1', kind }
  const deadline = context.clock.elapsed() + ADDRESS_MS
  await waitFor(context, `the addresses of ${before.length} ${kind} entries`, async () => {
    const { items } = await client.list(gvk, { namespace })
    const live = heldAddresses(items.map((item) => ({ ...item, kind }) as KubeObject))
    const differences = compareAddresses(before, live)
    if (differences.length === 0) return true
    if (context.clock.elapsed() < deadline) return undefined
    throw failure(addressesDiffer, { differences }, { exitCode: 1 })
  })
}

/** Compares every address once more, and ends the restore. */
async function proveAddresses(options: RestoreOptions, context: StageContext): Promise<void> {
  const { client, archive } = options
  const { namespace, name } = archive.manifest
  for (const kind of ['IPSet', 'Service'] as const) await waitForAddresses(options, kind, context)
  context.emit({ kind: 'progress', message: `${archive.addresses.length} addresses are as in the backup` })
  const ref = { apiVersion: 'v1', kind: 'Namespace', name: namespace }
  const patch = { metadata: { annotations: { [RESTORING]: null, [RESTORED]: name } } }
  await retry(() => client.patch(ref, patch, { type: 'merge', fieldManager: FIELD_MANAGER }), context)
}
