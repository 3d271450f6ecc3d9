/**
 * Dumps the databases of a cloud by upstream's GaleraBackup, and restores them by GaleraRestore. A dump has the name of its
 * backup, so a second run of the same backup finds its Job.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getList } from '../../api/raw-object.ts'
import { GALERA, GALERA_BACKUP, GALERA_RESTORE } from '../../backup/backup-kinds.ts'
import { databasesLeftOut, stepFailed } from '../../backup/findings.ts'
import { failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { PodOutput } from '../../kube/pod-exec.ts'
import type { StageContext } from '../../run/stage.ts'
import { FIELD_MANAGER, objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'

/** Runs a command in a pod of the cloud's namespace. */
export type ExecInPod = (pod: string, command: readonly string[]) => Promise<PodOutput>

const CRON_JOB = { apiVersion: 'batch/v1', kind: 'CronJob' }
const JOB = { apiVersion: 'batch/v1', kind: 'Job' }
const POLL_MS = 1_000

export interface Dumps {
  /** The GaleraBackups that have a dump of this backup. */
  readonly names: readonly string[]
  readonly findings: readonly Finding[]
}

export async function dumpDatabases(
  client: KubeClient,
  namespace: string,
  backup: string,
  context: StageContext,
): Promise<Dumps> {
  if (!(await client.resource(GALERA))) return { names: [], findings: [] }
  const galeras = (await client.list(GALERA, { namespace })).items.map(({ metadata }) => metadata.name)
  if (galeras.length === 0) return { names: [], findings: [] }
  if (!(await client.resource(GALERA_BACKUP)))
    return { names: [], findings: [finding(databasesLeftOut, { namespace, databases: galeras })] }
  const existing = (await client.list(GALERA_BACKUP, { namespace })).items
  const covered = new Set(existing.map((object) => (object['spec'] as { databaseInstance?: string }).databaseInstance))
  for (const galera of galeras.filter((name) => !covered.has(name))) {
    const object = { ...GALERA_BACKUP, metadata: { name: galera, namespace }, spec: { databaseInstance: galera } }
    await retry(() => client.apply(object, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: objectRef(object) })
  }
  const { items } = await client.list(GALERA_BACKUP, { namespace })
  const names = items.map(({ metadata }) => metadata.name)
  for (const name of names) await dumpDatabase(client, { namespace, name, backup }, context)
  return { names, findings: [] }
}

interface DumpRequest {
  readonly namespace: string
  readonly name: string
  readonly backup: string
}

async function dumpDatabase(client: KubeClient, request: DumpRequest, context: StageContext): Promise<void> {
  const { namespace, name, backup } = request
  const cronJob = await waitFor(context, `the CronJob of GaleraBackup ${namespace}/${name}`, async () => {
    const { items } = await client.list(CRON_JOB, { namespace })
    return items.find(({ metadata }) =>
      (metadata.ownerReferences ?? []).some((owner) => owner.kind === 'GaleraBackup' && owner.name === name),
    )
  })
  const job = renderJob(cronJob, backup)
  const ref = objectRef(job)
  if (!(await client.get(ref))) {
    await retry(() => client.apply(job, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: ref })
  }
  await waitFor(context, `Job ${namespace}/${job.metadata.name}`, async () => {
    const live = await client.get(ref)
    const condition = live && findCondition(live, 'Failed')
    if (condition?.status === 'True')
      throw failure(stepFailed, { object: formatObjectName(job), reason: condition.message ?? '' }, { exitCode: 1 })
    return live && findCondition(live, 'Complete')?.status === 'True' ? live : undefined
  })
}

/** As `kubectl create job --from=cronjob/…` does, with the name of the backup in the names of the dumps. */
function renderJob(cronJob: KubeObject, backup: string): KubeObject {
  const { jobTemplate } = cronJob['spec'] as { readonly jobTemplate: { readonly spec: JobSpec } }
  const { template } = jobTemplate.spec
  const containers = template.spec.containers.map((container) => ({
    ...container,
    env: [
      ...(container.env ?? []).filter(({ name }) => name !== 'BACKUP_TIMESTAMP'),
      { name: 'BACKUP_TIMESTAMP', value: backup },
    ],
  }))
  const { namespace = '', name } = cronJob.metadata
  return {
    ...JOB,
    metadata: { name: `${name.slice(0, 62 - backup.length)}-${backup}`, namespace },
    spec: { ...jobTemplate.spec, template: { ...template, spec: { ...template.spec, containers } } },
  }
}

interface JobSpec {
  readonly template: {
    readonly spec: {
      readonly containers: readonly { readonly env?: readonly { readonly name: string; readonly value?: string }[] }[]
    }
  }
}

/** Restores each dump by a GaleraRestore, whose pod has the volume with the dumps, and deletes it after success. */
export async function restoreDatabases(
  client: KubeClient,
  {
    namespace,
    dumps,
    backup,
  }: { readonly namespace: string; readonly dumps: readonly string[]; readonly backup: string },
  exec: ExecInPod,
  context: StageContext,
): Promise<void> {
  for (const name of dumps) {
    const object = { ...GALERA_RESTORE, metadata: { name, namespace }, spec: { backupSource: name } }
    await retry(() => client.apply(object, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: objectRef(object) })
    const pod = await waitFor(context, `the pod of GaleraRestore ${namespace}/${name}`, async () => {
      const { items } = await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace })
      return items.find((candidate) => isRestorePod(candidate, name))
    })
    const { exitCode, stdout, stderr } = await exec(pod.metadata.name, ['sh', '-c', renderRestoreScript(backup)])
    if (exitCode !== 0) {
      const reason = lastLine(stderr) || lastLine(stdout) || `exit code ${exitCode}`
      throw failure(stepFailed, { object: `GaleraRestore ${namespace}/${name}`, reason }, { exitCode: 1 })
    }
    context.emit({ kind: 'progress', message: `database ${name} is restored` })
    await client.delete(objectRef(object))
  }
}

/** Upstream's script ends well without a dump and with a damaged one, so they are checked first. It prints its errors to stdout. */
function renderRestoreScript(backup: string): string {
  return [
    `set -- /backup/data/*_${backup}.sql.gz`,
    'for dump; do gunzip -t "$dump" || exit 1; done',
    'exec /var/lib/backup-scripts/restore_galera --yes --content data "$@"',
  ].join('\n')
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

function isRestorePod(pod: KubeObject, name: string): boolean {
  const { labels = {}, ownerReferences = [] } = pod.metadata
  const isOwned = ownerReferences.some((owner) => owner.kind === 'GaleraRestore' && owner.name === name)
  const isReady = getList(pod, 'status', 'conditions').some((condition) => {
    const { type, status } = condition as { readonly type?: string; readonly status?: string }
    return type === 'Ready' && status === 'True'
  })
  return (isOwned || labels['galerarestore/name'] === name) && isReady
}

/** Asks again until there is a value. Objects of other operators come and go, so nothing is watched for them. */
export async function waitFor<T>(context: StageContext, what: string, find: () => Promise<T | undefined>): Promise<T> {
  context.emit({ kind: 'waiting', reason: `waits for ${what}` })
  for (;;) {
    context.stop.throwIfAborted()
    const found = await retry(find, context)
    if (found !== undefined) return found
    await context.clock.sleep(POLL_MS, context.stop)
  }
}
