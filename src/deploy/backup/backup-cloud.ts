/**
 * Backs up one cloud in stages: labels, database dumps, volumes, objects. What exists is not created again, so the same
 * command resumes. Of the cloud itself it changes one annotation, which records the backup.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, getString } from '../../api/raw-object.ts'
import {
  ADDRESSES,
  INVENTORY,
  LOCK,
  MANIFEST,
  type Manifest,
  NAMESPACE,
  objectFile,
  plainKinds,
  SECRETS,
  type SealedSecrets,
  sha256,
} from '../../backup/archive.ts'
import { BACKUP_CONFIG, backupKinds, CONTROL_PLANE, outsideKinds, SERVICE } from '../../backup/backup-kinds.ts'
import { volumesLeftOut } from '../../backup/findings.ts'
import { formatLastBackup, LAST_BACKUP } from '../../backup/last-backup.ts'
import { seal } from '../../backup/seal.ts'
import { cleanObject, heldAddresses, isInBackup } from '../../backup/select-objects.ts'
import { renderVolumeBackup, veleroReadiness } from '../../backup/velero.ts'
import { systemClock } from '../../clock/clock.ts'
import { failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { notReady } from '../findings/up.ts'
import { type Inventory, readInventory, refKey, renderInventory } from '../inventory.ts'
import { FIELD_MANAGER, objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'
import { type Dumps, dumpDatabases, waitFor } from './database-dumps.ts'

export interface BackupOptions {
  readonly client: KubeClient
  readonly inventory: Inventory & { readonly cloud: string; readonly namespace: string }
  /** Name of the backup, of its dumps and of its Velero Backup. */
  readonly name: string
  readonly recipients: readonly string[]
  /** Texts of the site file and its lock; without, the lock on record is saved. */
  readonly siteFiles: ReadonlyMap<string, string>
  readonly velero?: { readonly namespace: string; readonly storageLocation?: string }
  /** Writes a file of the archive. */
  readonly write: (path: string, content: string | Uint8Array) => Promise<void>
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
}

export interface BackupReport extends RunReport {
  readonly findings: readonly Finding[]
  readonly manifest?: Manifest
}

/** What later stages need from earlier ones. */
interface Progress {
  dumps: Dumps
  volumes: Manifest['volumes']
  manifest?: Manifest
  readonly findings: Finding[]
}

export async function backupCloud(options: BackupOptions): Promise<BackupReport> {
  const { inventory, run, sink, stop } = options
  const progress: Progress = { dumps: { names: [], findings: [] }, volumes: undefined, findings: [] }
  const steps: readonly (readonly [string, (context: StageContext) => Promise<void>])[] = [
    ['labels', (context) => waitForLabels(options, context)],
    [
      'databases',
      async (context) => {
        progress.dumps = await dumpDatabases(options.client, inventory.namespace, options.name, context)
      },
    ],
    ['volumes', (context) => backUpVolumes(options, progress, context)],
    ['objects', (context) => writeObjects(options, progress, context)],
  ]
  const stages = steps.map(([name, work], index): Stage => {
    const before = steps[index - 1]?.[0]
    const after = before === undefined ? [] : [{ id: stageId(before, inventory.cloud), why: 'one backup at a time' }]
    return { id: stageId(name, inventory.cloud), name, cloud: inventory.cloud, after, locks: [], work }
  })
  const report = await runStages({
    run,
    what: `backup --cloud ${inventory.cloud}`,
    stages,
    sink,
    clock: systemClock,
    stop,
  })
  const findings = [...progress.dumps.findings, ...progress.findings]
  return { ...report, findings, ...(progress.manifest && { manifest: progress.manifest }) }
}

/** Upstream's controller labels what must be restored although an operator owns it. */
async function waitForLabels(
  { client, inventory: { namespace } }: BackupOptions,
  context: StageContext,
): Promise<void> {
  if (!(await client.resource(BACKUP_CONFIG))) return
  const { items } = await client.list(BACKUP_CONFIG, { namespace })
  const object = { ...BACKUP_CONFIG, metadata: { name: 'openstack', namespace }, spec: {} }
  if (items.length === 0) {
    await retry(() => client.apply(object, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: objectRef(object) })
  }
  await waitFor(context, `OpenStackBackupConfig of ${namespace}`, async () => {
    const live = (await client.list(BACKUP_CONFIG, { namespace })).items
    return live.length > 0 && live.every((config) => findCondition(config, 'Ready')?.status === 'True')
      ? live
      : undefined
  })
}

async function backUpVolumes(
  { client, inventory: { namespace }, velero, name }: BackupOptions,
  progress: Progress,
  context: StageContext,
): Promise<void> {
  if (!velero) {
    const claims = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }
    const labelSelector = 'backup.openstack.org/backup=true'
    const { items } = await client.list(claims, { namespace, labelSelector })
    if (items.length > 0) progress.findings.push(finding(volumesLeftOut, { namespace, count: items.length }))
    return
  }
  const { storageLocation } = velero
  const location = storageLocation === undefined ? {} : { storageLocation }
  const object = renderVolumeBackup({ name, namespace, veleroNamespace: velero.namespace, ...location })
  const ref = objectRef(object)
  if (!(await client.get(ref))) {
    await retry(() => client.apply(object, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: ref })
  }
  await waitFor(context, `Velero Backup ${velero.namespace}/${name}`, async () => {
    const verdict = veleroReadiness(await client.get(ref), name)
    if (verdict.kind === 'failed') throw failure(notReady, verdict, { exitCode: 1 })
    return verdict.kind === 'ready' ? true : undefined
  })
  progress.volumes = { namespace: velero.namespace, name }
}

async function writeObjects(options: BackupOptions, progress: Progress, context: StageContext): Promise<void> {
  const { client, inventory, name, recipients, siteFiles, write } = options
  const { namespace, cloud, site } = inventory
  const list = async (kind: { readonly apiVersion: string; readonly kind: string }, within?: string) => {
    if (!(await client.resource(kind))) return []
    const { items } = await client.list(kind, within === undefined ? {} : { namespace: within })
    const { apiVersion, kind: name } = kind
    return items.map((item) => ({ ...item, apiVersion, kind: name }) as KubeObject)
  }
  const hashes: Record<string, string> = {}
  const writeFile = async (path: string, content: string | Uint8Array): Promise<void> => {
    context.stop.throwIfAborted()
    await write(path, content)
    hashes[path] = sha256(content)
    context.emit({ kind: 'progress', message: `wrote ${path}` })
  }
  // By the inventory: names of another cloud may begin with this namespace, too.
  const listed = new Set(inventory.objects.map(refKey))
  for (const kind of plainKinds) {
    const found = outsideKinds.includes(kind)
      ? (await list(kind)).filter((object) => listed.has(refKey(objectRef(object))))
      : await list(kind, namespace)
    const ours = found.filter((object) => isInBackup(object, kind)).map(cleanObject)
    if (ours.length > 0) await writeFile(objectFile(kind), formatJson(ours))
  }
  const holders = [
    ...(await list({ apiVersion: 'network.openstack.org/v1beta1', kind: 'IPSet' }, namespace)),
    ...(await list(SERVICE, namespace)),
  ]
  await writeFile(ADDRESSES, formatJson(heldAddresses(holders)))
  const [saved] = (await list({ apiVersion: 'v1', kind: 'Namespace' })).filter(
    ({ metadata }) => metadata.name === namespace,
  )
  await writeFile(NAMESPACE, formatJson(saved ? cleanObject(saved) : {}))
  await writeFile(INVENTORY, formatJson(renderInventory(inventory)))
  const recorded = (await readInventory(client))?.lock
  const files = new Map([...(recorded === undefined ? [] : [[LOCK, recorded] as const]), ...siteFiles])
  for (const [path, text] of files) await writeFile(path, text)
  const [secretKind] = backupKinds.filter(({ kind }) => kind === 'Secret')
  const secrets = (await list({ apiVersion: 'v1', kind: 'Secret' }, namespace))
    .filter((secret) => secretKind && isInBackup(secret, secretKind))
    .map(cleanObject)
  const sealed: SealedSecrets = { files: { ...hashes }, secrets }
  await writeFile(SECRETS, await seal(JSON.stringify(sealed), recipients))
  const [version] = await list({ apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' }, namespace)
  const deployed = getString(version, 'status', 'deployedVersion')
  const manifest: Manifest = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Backup',
    name,
    time: new Date(context.clock.now()).toISOString(),
    site,
    cloud,
    namespace,
    ...(deployed !== undefined && { version: deployed }),
    dumps: [...progress.dumps.names],
    ...(progress.volumes && { volumes: progress.volumes }),
    files: Object.entries(hashes).map(([path, hash]) => ({ path, sha256: hash })),
  }
  await write(MANIFEST, formatJson(manifest))
  await recordBackup(options, manifest, context)
  progress.manifest = manifest
}

/** For the doctor and the operator: the folder itself is outside of the cluster. */
async function recordBackup(
  { client }: BackupOptions,
  { name, time, namespace }: Manifest,
  context: StageContext,
): Promise<void> {
  const annotations = { [LAST_BACKUP]: formatLastBackup({ name, time: Date.parse(time) }) }
  for (const { metadata } of (await client.list(CONTROL_PLANE, { namespace })).items) {
    const ref = { ...CONTROL_PLANE, namespace, name: metadata.name }
    const patch = { metadata: { annotations } }
    await retry(() => client.patch(ref, patch, { type: 'merge', fieldManager: 'stackloom-backup' }), context)
  }
}

function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
