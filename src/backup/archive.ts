/**
 * Defines the files of a backup and checks an archive before anything of it is used: hashes, kinds, namespace. Pure.
 *
 * The manifest is written last, so a folder without one is unfinished. The encrypted file repeats the hashes of the others,
 * so that a change of those with a matching manifest is noticed, too.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { asList, asRecord } from '../api/json.ts'
import { apiGroup, type KubeObject, type ManagedFields } from '../api/object.ts'
import { formatObjectName, getField } from '../api/raw-object.ts'
import { explainReservedNamespace } from '../api/reserved-namespace.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { type BackupKind, backupKinds, outsideKinds } from './backup-kinds.ts'
import { alteredArchive, brokenArchive, foreignObject } from './findings.ts'
import { type HeldAddress, isInBackup } from './select-objects.ts'

export const MANIFEST = 'manifest.json'
export const SECRETS = 'secrets.age'
export const ADDRESSES = 'addresses.json'
export const NAMESPACE = 'namespace.json'
export const INVENTORY = 'inventory.json'
export const LOCK = 'site.lock.yaml'

/** What a manifest may list. Names of files come from the archive, so nothing else is opened. */
const FILE_NAME =
  /^(secrets\.age|addresses\.json|namespace\.json|inventory\.json|site\.yaml|site\.lock\.yaml|objects\/\d\d-[A-Za-z0-9]+\.json)$/

/** Also the name of Jobs and of dumps. */
export const BACKUP_NAME = /^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$/

/** A cloud with ten thousand hosts has a few dozen MiB. */
export const MAX_FILE_BYTES = 128 * 1024 ** 2
/** A restore holds all files in memory. */
export const MAX_TOTAL_BYTES = 512 * 1024 ** 2
const MAX_FILES = 100

const manifestSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1'),
  kind: z.literal('Backup'),
  name: z.string().regex(BACKUP_NAME),
  time: z.string().max(40),
  site: z.string().max(253),
  cloud: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  namespace: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
    .refine((name) => explainReservedNamespace(name) === undefined, { error: 'no cloud can have this namespace' }),
  version: z.string().max(100).optional(),
  /** GaleraBackups whose dump has the name of this backup. */
  dumps: z.array(z.string().regex(/^[a-z0-9][a-z0-9.-]{0,252}$/)).max(1000),
  /** The Velero Backup that has the volumes. */
  volumes: z
    .strictObject({ namespace: z.string().regex(/^[a-z0-9-]{1,63}$/), name: z.string().regex(/^[a-z0-9.-]{1,253}$/) })
    .optional(),
  files: z
    .array(z.strictObject({ path: z.string().regex(FILE_NAME), sha256: z.string().regex(/^[0-9a-f]{64}$/) }))
    .max(MAX_FILES),
})

export type Manifest = z.infer<typeof manifestSchema>

export interface SealedSecrets {
  /** sha256 of every other file, by path. */
  readonly files: Readonly<Record<string, string>>
  readonly secrets: readonly KubeObject[]
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

export function objectFile({ order, kind }: BackupKind): string {
  return `objects/${order}-${kind}.json`
}

export interface ManifestReading {
  readonly manifest?: Manifest
  readonly findings: readonly Finding[]
}

export function readManifest(text: string, folder: string): ManifestReading {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { findings: [finding(brokenArchive, { folder, reason: `${MANIFEST} is not JSON` })] }
  }
  const { success, data, error } = manifestSchema.safeParse(value)
  if (success && new Set(data.files.map(({ path }) => path)).size === data.files.length)
    return { manifest: data, findings: [] }
  const issue = error?.issues[0]
  const reason = issue ? `${MANIFEST}: ${issue.path.join('.')}: ${issue.message}` : `${MANIFEST} lists a file twice`
  return { findings: [finding(brokenArchive, { folder, reason })] }
}

/** Compares every file with the manifest and with the encrypted hashes. */
export function checkHashes(
  { files }: Manifest,
  contents: ReadonlyMap<string, Uint8Array>,
  sealed: SealedSecrets['files'],
): readonly Finding[] {
  const listed = new Map(files.map(({ path, sha256: hash }) => [path, hash]))
  const paths = new Set([...listed.keys(), ...Object.keys(sealed)])
  return [...paths].flatMap((path) => {
    const content = contents.get(path)
    const hash = content && sha256(content)
    if (hash === undefined) return [finding(alteredArchive, { file: path, reason: 'it is missing' })]
    if (hash !== listed.get(path)) return [finding(alteredArchive, { file: path, reason: 'its hash differs' })]
    const isBound = path === SECRETS || sealed[path] === hash
    return isBound ? [] : [finding(alteredArchive, { file: path, reason: `${SECRETS} has another hash of it` })]
  })
}

export interface ArchivedObjects {
  readonly objects: readonly KubeObject[]
  readonly findings: readonly Finding[]
}

/** The content of `secrets.age`. Everyone with the public key can write one. */
export function readSealed(value: unknown): SealedSecrets {
  const { files, secrets } = asRecord(value)
  const hashes = Object.entries(asRecord(files)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return { files: Object.fromEntries(hashes), secrets: asList(secrets) as readonly KubeObject[] }
}

const addressesSchema = z.array(
  z.strictObject({ holder: z.string().max(300), network: z.string().max(253).optional(), address: z.string().max(45) }),
)

export function readAddresses(value: unknown): readonly HeldAddress[] | undefined {
  const { data } = addressesSchema.safeParse(value)
  return data?.map(({ network, ...held }) => (network === undefined ? held : { ...held, network }))
}

/** The objects of one file. Each must be of the file's kind, and of the cloud: an archive must not reach anything else. */
export function readObjects(kind: BackupKind, content: unknown, namespace: string, file: string): ArchivedObjects {
  const findings: Finding[] = []
  const objects = asList(content).filter((item): item is KubeObject => {
    const reason = findForeign(kind, item, namespace)
    if (reason === undefined) return true
    const name = String(asRecord(asRecord(item)['metadata'])['name'])
    findings.push(finding(foreignObject, { file, object: `${kind.kind} ${name.slice(0, 100)}`, reason }))
    return false
  })
  return { objects, findings }
}

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
const VERSION = /^([a-z0-9.-]{1,253}\/)?v[a-z0-9]{1,20}$/

/** Undefined where the list is not as Kubernetes writes it. */
export function readOwners(value: unknown): readonly ManagedFields[] | undefined {
  return ownersSchema.safeParse(value).success ? (asList(value) as readonly ManagedFields[]) : undefined
}

const ownersSchema = z
  .array(
    z.strictObject({
      manager: z.string().max(128),
      operation: z.enum(['Apply', 'Update']),
      apiVersion: z.string().max(317),
      time: z.string().max(40).optional(),
      fieldsType: z.literal('FieldsV1').optional(),
      fieldsV1: z.record(z.string(), z.unknown()).optional(),
    }),
  )
  .max(1000)
  .optional()

/** What `cleanObject` keeps: no owners and finalizers, no uid. */
const metadataSchema = z.strictObject({
  name: z.string().regex(NAME),
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  managedFields: ownersSchema,
})

function findForeign(kind: BackupKind, item: unknown, namespace: string): string | undefined {
  const { apiVersion, kind: found, metadata } = asRecord(item)
  const isVersion = typeof apiVersion === 'string' && VERSION.test(apiVersion)
  if (found !== kind.kind || !isVersion || apiGroup(apiVersion) !== apiGroup(kind.apiVersion))
    return `it is not a ${kind.kind}`
  const { error } = metadataSchema.safeParse(metadata)
  const issue = error?.issues[0]
  if (issue) return `metadata.${issue.path.join('.')}: ${issue.message}`
  const object = item as KubeObject
  // Such as the CA of the cluster, which every namespace gets from it, or a token.
  if (!isInBackup(object, kind)) return 'a backup leaves it out'
  if (outsideKinds.some((outside) => outside.kind === kind.kind)) return findOutside(object, namespace)
  return object.metadata.namespace === namespace ? undefined : `it is not in namespace ${namespace}`
}

/** Names as `up` renders them. An object outside of the namespace must concern no Service and no pool of another cloud. */
function findOutside(object: KubeObject, namespace: string): string | undefined {
  const { name } = object.metadata
  const isNamed =
    object.kind === 'BGPAdvertisement' ? name === `bgpadvertisement-${namespace}` : isNamedFor(name, namespace)
  if (!isNamed) return `its name is not one of namespace ${namespace}`
  if (object.kind === 'IPAddressPool') {
    const { namespaces, namespaceSelectors } = asRecord(getField(object, 'spec', 'serviceAllocation'))
    const isOwn = asList(namespaces).length === 1 && asList(namespaces)[0] === namespace
    return isOwn && namespaceSelectors === undefined ? undefined : 'it gives addresses to other namespaces'
  }
  const { ipAddressPools, ipAddressPoolSelectors } = asRecord(object['spec'])
  const pools = asList(ipAddressPools)
  const isOwn = pools.length > 0 && pools.every((pool) => isNamedFor(pool, namespace))
  return isOwn && ipAddressPoolSelectors === undefined ? undefined : 'it announces pools of other namespaces'
}

function isNamedFor(name: unknown, namespace: string): boolean {
  return typeof name === 'string' && name.startsWith(`${namespace}-`)
}

/** Advertisements of pools that the archive does not have: such a pool may be of a cloud whose name is longer. */
export function findForeignPools(objects: readonly KubeObject[]): readonly Finding[] {
  const pools = new Set(objects.filter(({ kind }) => kind === 'IPAddressPool').map(({ metadata }) => metadata.name))
  return objects
    .filter(({ kind }) => outsideKinds.some((outside) => outside.kind === kind))
    .flatMap((object) =>
      asList(getField(object, 'spec', 'ipAddressPools'))
        .filter((pool) => !pools.has(String(pool)))
        .map((pool) => {
          const reason = `it announces the pool ${String(pool).slice(0, 100)}, which is not in the backup`
          return finding(foreignObject, { file: 'objects', object: formatObjectName(object), reason })
        }),
    )
}

/** Every kind that an archive may have, except Secrets, which are encrypted. */
export const plainKinds: readonly BackupKind[] = [...backupKinds, ...outsideKinds].filter(
  ({ kind }) => kind !== 'Secret',
)
