/** Reads and writes the folder of a backup. A folder may come from elsewhere: nothing outside of it is opened. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  ADDRESSES,
  BACKUP_NAME,
  checkHashes,
  findForeignPools,
  INVENTORY,
  LOCK,
  MANIFEST,
  MAX_FILE_BYTES,
  MAX_TOTAL_BYTES,
  type Manifest,
  NAMESPACE,
  objectFile,
  plainKinds,
  readAddresses,
  readManifest,
  readObjects,
  readOwners,
  readSealed,
  SECRETS,
} from '../../backup/archive.ts'
import { backupKinds } from '../../backup/backup-kinds.ts'
import { brokenArchive, folderNotEmpty, otherBackup } from '../../backup/findings.ts'
import { unseal } from '../../backup/seal.ts'
import type { CheckedArchive } from '../../deploy/backup/restore-cloud.ts'
import { type Inventory, type InventoryEntry, parseInventory, refKey } from '../../deploy/inventory.ts'
import { objectRef } from '../../deploy/object-changes.ts'
import { pathLeavesFolder } from '../../errors/common.ts'
import { Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { resolveBelow } from '../../files/path-below.ts'
import { readLimited } from '../../files/read-limited.ts'
import { writeFileAtomically } from '../../files/write-file.ts'
import { readLock } from '../../plan/lock-file.ts'
import { findExpansion } from '../../yaml/expanded-size.ts'
import type { Io } from '../io.ts'

/** Names the backup while it is unfinished, so that the same command resumes it. */
const STARTED = 'backup.json'

export interface BackupFolder {
  readonly name: string
  readonly write: (file: string, content: string | Uint8Array) => Promise<void>
}

/** Creates the folder, or opens that of an unfinished backup of the same cloud. */
export async function openBackupFolder(out: string, cloud: string, newName: string, io: Io): Promise<BackupFolder> {
  const folder = path.resolve(io.cwd, out)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  await mkdir(path.join(folder, 'objects'), { recursive: true })
  const name = await readStarted(folder, out, cloud)
  const write = async (file: string, content: string | Uint8Array): Promise<void> => {
    const target = resolveBelow(folder, file)
    if (target === undefined) throw failure(pathLeavesFolder, { file, folder: out })
    await writeFileAtomically(target, content, { replace: true, mode: 0o600 })
  }
  if (name === undefined) await write(STARTED, `${JSON.stringify({ name: newName, cloud })}\n`)
  return { name: name ?? newName, write }
}

async function readStarted(folder: string, out: string, cloud: string): Promise<string | undefined> {
  const entries = (await readdir(folder)).filter((entry) => entry !== 'objects')
  if (entries.length === 0) return undefined
  if (!entries.includes(STARTED) || entries.includes(MANIFEST)) throw failure(folderNotEmpty, { folder: out })
  const { name, cloud: started } = asRecord(parseJson(await readBelow(folder, STARTED, out), STARTED, out))
  // The name becomes that of Jobs and dumps, and others may write to the folder.
  if (typeof name !== 'string' || !BACKUP_NAME.test(name) || typeof started !== 'string')
    throw failure(folderNotEmpty, { folder: out })
  if (started !== cloud) throw failure(otherBackup, { folder: out, cloud: started, asked: cloud })
  return name
}

async function readBelow(folder: string, file: string, shown: string): Promise<Uint8Array> {
  const target = resolveBelow(folder, file)
  if (target === undefined) throw failure(pathLeavesFolder, { file, folder: shown })
  if (!existsSync(target)) throw failure(brokenArchive, { folder: shown, reason: `${file} is missing` })
  const content = await readLimited(target, MAX_FILE_BYTES)
  if (!content) throw failure(brokenArchive, { folder: shown, reason: `${file} is larger than 128 MiB` })
  return content
}

function parseJson(content: Uint8Array | string, file: string, folder: string): unknown {
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw failure(brokenArchive, { folder, reason: `${file} is not JSON` })
  }
  const reason = findExpansion(value, text.length)
  if (reason !== undefined) throw failure(brokenArchive, { folder, reason: `${file}: ${reason}` })
  return value
}

/** Reads, decrypts and checks everything before anything is used. */
export async function openArchive(shown: string, identities: string, io: Io): Promise<CheckedArchive> {
  const folder = path.resolve(io.cwd, shown)
  const text = Buffer.from(await readBelow(folder, MANIFEST, shown)).toString('utf8')
  const { manifest, findings } = readManifest(text, shown)
  if (!manifest) throw new Failure(findings)
  const contents = new Map<string, Uint8Array>()
  let left = MAX_TOTAL_BYTES
  for (const { path: file } of manifest.files) {
    const content = await readBelow(folder, file, shown)
    left -= content.length
    if (left < 0) throw failure(brokenArchive, { folder: shown, reason: 'its files are larger than 512 MiB together' })
    contents.set(file, content)
  }
  const sealed = contents.get(SECRETS)
  if (!sealed) throw failure(brokenArchive, { folder: shown, reason: `${SECRETS} is missing` })
  const { files, secrets } = readSealed(parseJson(await unseal(sealed, identities), SECRETS, shown))
  const altered = checkHashes(manifest, contents, files)
  if (altered.length > 0) throw new Failure(altered)
  const readFile = (file: string): unknown => parseJson(contents.get(file) ?? 'null', file, shown)
  const addresses = readAddresses(readFile(ADDRESSES))
  if (!addresses) throw failure(brokenArchive, { folder: shown, reason: `${ADDRESSES} is not a list of addresses` })
  const objects = readArchivedObjects(manifest, contents, secrets, readFile)
  return {
    manifest,
    objects,
    addresses,
    namespace: readNamespace(readFile(NAMESPACE)),
    inventory: readInventory(manifest, readFile(INVENTORY), objects),
    ...readSavedLock(contents.get(LOCK)),
  }
}

function readArchivedObjects(
  { namespace }: Manifest,
  contents: ReadonlyMap<string, Uint8Array>,
  secrets: readonly KubeObject[],
  readFile: (file: string) => unknown,
): readonly KubeObject[] {
  const present = plainKinds.filter((kind) => contents.has(objectFile(kind)))
  const [secretKind] = backupKinds.filter(({ kind }) => kind === 'Secret')
  const results = [
    ...present.map((kind) => readObjects(kind, readFile(objectFile(kind)), namespace, objectFile(kind))),
    ...(secretKind ? [readObjects(secretKind, secrets, namespace, SECRETS)] : []),
  ]
  const objects = results.flatMap((result) => result.objects)
  const findings = [...results.flatMap((result) => result.findings), ...findForeignPools(objects)]
  if (hasErrors(findings)) throw new Failure(findings)
  return objects
}

function readSavedLock(content: Uint8Array | undefined): Pick<CheckedArchive, 'lock'> {
  if (!content) return {}
  const { lock, findings } = readLock(Buffer.from(content).toString('utf8'), LOCK)
  if (hasErrors(findings)) throw new Failure(findings)
  return lock ? { lock } : {}
}

/** Labels and annotations only, with their owners. */
function readNamespace(value: unknown): KubeObject {
  const { metadata } = asRecord(value)
  const { labels, annotations, managedFields } = asRecord(metadata)
  const owners = readOwners(managedFields) ?? []
  const texts = (record: unknown) =>
    Object.fromEntries(Object.entries(asRecord(record)).filter(([, text]) => typeof text === 'string')) as Record<
      string,
      string
    >
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: '', labels: texts(labels), annotations: texts(annotations), managedFields: owners },
  }
}

/** `down` deletes what an inventory lists, so entries outside of the cloud are left out; `up` lists them again. */
function readInventory(
  { site, cloud, namespace }: Manifest,
  value: unknown,
  archived: readonly KubeObject[],
): Inventory {
  const listed = parseInventory({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: INVENTORY },
    ...asRecord(value),
  })
  const restored = new Set(archived.map((object) => refKey(objectRef(object))))
  const isOfCloud = (entry: InventoryEntry): boolean =>
    entry.namespace === namespace ||
    (entry.kind === 'Namespace' && entry.name === namespace) ||
    restored.has(refKey(entry))
  const { lock, objects } = listed
  return { site, cloud, namespace, objects: objects.filter(isOfCloud), ...(lock !== undefined && { lock }) }
}
