/**
 * Prepares the etcd data of a cluster with a CRD set, once, and copies it for every new sandbox. The CRDs are installed in a
 * real API server by server-side apply.
 */
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Condition, KubeObject } from '../api/object.ts'
import type { KubeClient } from '../kube/client.ts'
import { ensureFolder, publishFolder, toWriteFailure } from './build/cache-folder.ts'
import { type BuildContext, ensurePrograms } from './build/ensure-programs.ts'
import { FIELD_MANAGER } from './cluster-objects.ts'
import { callSupervisor } from './control.ts'
import type { CrdCollection } from './crds/crd-sets.ts'
import { platformCrds, TUNED_NAMESPACE } from './crds/platform-crds.ts'
import { type SandboxFolder, sandboxFolder } from './folder.ts'
import { METALLB_NAMESPACE, requiredPrograms } from './program-table.ts'
import { type StartContext, startPrograms, withConnection } from './start-programs.ts'

/** Increase when the prepared data changes. */
const FORMAT_VERSION = 2

const CONCURRENCY = 4
const RETENTION_MS = 14 * 86_400_000

export type PrepareContext = BuildContext & StartContext

/** Returns the folder of prepared data for a set of CRDs. */
export async function ensurePreparedStore(collection: CrdCollection, context: PrepareContext): Promise<string> {
  const { paths, notify, signal, now } = context
  const programs = await ensurePrograms(requiredPrograms.core, context)
  const cacheFolder = path.join(paths.cache, 'prepared')
  const key = createHash('sha256')
    .update(JSON.stringify([FORMAT_VERSION, collection.key, programs]))
    .digest('hex')
  const folder = path.join(cacheFolder, `${collection.set}-${key.slice(0, 16)}`)
  const waiting = 'waiting for another process that prepares the same data'
  return ensureFolder(folder, { what: 'the prepared data', waiting, notify, signal }, async () => {
    await prepare(folder, collection, context)
    await removeExpired(cacheFolder, collection.set, now())
  })
}

/** Removes data of earlier pins and schemas. Recent data is kept, because another checkout may still use it. */
async function removeExpired(cacheFolder: string, set: string, now: number): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    if (!name.startsWith(`${set}-`)) continue
    const folder = path.join(cacheFolder, name)
    const createdMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? now
    if (now - createdMs > RETENTION_MS) await rm(folder, { recursive: true, force: true })
  }
}

async function prepare(target: string, { set, crds }: CrdCollection, context: PrepareContext): Promise<void> {
  const cacheFolder = path.dirname(target)
  const root = await mkdir(cacheFolder, { recursive: true })
    .then(() => mkdtemp(path.join(cacheFolder, '.preparing-')))
    .catch((error: unknown) => {
      throw toWriteFailure(error, cacheFolder, 'preparing data')
    })
  const folder = sandboxFolder(root)
  try {
    const programs = await ensurePrograms(requiredPrograms.core, context)
    const port = { number: 0, fixed: false }
    await startPrograms(
      { name: 'preparation', folder, programs, parts: [], netns: false, ephemeral: true, port },
      context,
    )
    await withConnection(folder, context, ({ client }) => installCrds(client, [...crds, ...platformCrds], set, context))
    await publishFolder(target, async (temporary) => {
      // An ephemeral supervisor removes its folder, so the data is copied before it stops, after etcd has written everything.
      await callSupervisor(folder.control, { do: 'kill', task: 'kube-apiserver' })
      await callSupervisor(folder.control, { do: 'kill', task: 'etcd' })
      await copyStore(folder.etcd, path.join(temporary, 'etcd'))
    })
    await callSupervisor(folder.control, { do: 'stop' })
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function installCrds(
  client: KubeClient,
  crds: readonly KubeObject[],
  set: string,
  { notify, signal }: PrepareContext,
): Promise<void> {
  for (const name of [METALLB_NAMESPACE, TUNED_NAMESPACE])
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { fieldManager: FIELD_MANAGER })
  const queue = [...crds]
  let done = 0
  const worker = async (): Promise<void> => {
    for (let crd = queue.shift(); crd; crd = queue.shift()) {
      signal?.throwIfAborted()
      await client.apply(crd, { fieldManager: FIELD_MANAGER })
      done += 1
      notify({ kind: 'progress', text: `installing the CRDs of set ${set}`, done, total: crds.length })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  await waitUntilEstablished(client, crds)
}

/** A name conflict is accepted at apply and shows only in the status. */
async function waitUntilEstablished(client: KubeClient, crds: readonly KubeObject[]): Promise<void> {
  const kind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
  const wanted = new Set(crds.map((crd) => crd.metadata.name))
  for (;;) {
    const { items } = await client.list(kind)
    const established = items.filter((crd) => wanted.has(crd.metadata.name) && isEstablished(crd))
    if (established.length === wanted.size) return
    const refused = items.flatMap((crd) => findNamesConflict(crd) ?? [])
    if (refused.length > 0) throw new Error(refused.join('; '))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

function crdConditions(crd: KubeObject): readonly Condition[] {
  return (crd['status'] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? []
}

function isEstablished(crd: KubeObject): boolean {
  return crdConditions(crd).some(({ type, status }) => type === 'Established' && status === 'True')
}

function findNamesConflict(crd: KubeObject): string | undefined {
  const refused = crdConditions(crd).find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
  return refused && `${crd.metadata.name}: ${refused.message}`
}

/** etcd preallocates an empty 64 MB file (.tmp) for its next log, and creates a new one when it is missing. */
function copyStore(from: string, to: string): Promise<void> {
  return cp(from, to, { recursive: true, filter: (file) => !file.endsWith('.tmp') })
}

/** Copies prepared data into the folder of a new sandbox, completely or not at all. */
export async function copyPreparedStore(prepared: string, folder: SandboxFolder): Promise<void> {
  const temporary = `${folder.etcd}.new`
  try {
    await mkdir(folder.root, { recursive: true, mode: 0o700 })
    await rm(temporary, { recursive: true, force: true })
    await copyStore(path.join(prepared, 'etcd'), temporary)
    await rename(temporary, folder.etcd)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw toWriteFailure(error, folder.root, 'copying prepared data')
  }
}
