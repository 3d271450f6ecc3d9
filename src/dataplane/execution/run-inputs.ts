/** Reads the Secrets and ConfigMaps that a run needs for its volumes and its environment, once, when it starts. */

import type { KubeObject } from '../../api/object.ts'
import type { KubeReader } from '../../kube/client.ts'
import type { AnsibleRun, AnsibleRunSpec } from '../kinds/ansible-run.ts'
import type { HostKeys } from './host-keys.ts'
import type { InventoryHosts } from './inventory-hosts.ts'

/** Where the inventory of a run is mounted. */
export const INVENTORY_FOLDER = '/runner/inventory'

export interface Source {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
}

/** Bytes by key. */
export type Content = ReadonlyMap<string, Buffer>

export interface RunInputs {
  /** By `sourceKey`. */
  readonly found: ReadonlyMap<string, Content>
  /** `Secret x`: required and absent. */
  readonly missing: readonly string[]
  /** Of the inventories, where they are known. */
  readonly hosts?: InventoryHosts
  /** Of the nodes with the names of hosts. */
  readonly hostKeys?: HostKeys
}

export function sourceKey({ kind, name }: Source): string {
  return `${kind} ${name}`
}

type Volume = NonNullable<AnsibleRunSpec['extraMounts']>[number]['volumes'][number]

/** One of these sources is required, the first that exists. */
interface InputRequirement {
  readonly oneOf: readonly Source[]
  readonly optional: boolean
}

export async function readRunInputs(
  client: Pick<KubeReader, 'get'>,
  run: AnsibleRun,
  signal: AbortSignal,
): Promise<RunInputs> {
  const { namespace = '' } = run.metadata
  const found = new Map<string, Content>()
  const missing: string[] = []
  for (const { oneOf, optional } of requiredInputs(run.spec)) {
    let any = false
    for (const source of oneOf) {
      const key = sourceKey(source)
      const known = found.has(key)
      const ref = { apiVersion: 'v1', kind: source.kind, namespace, name: source.name }
      const object = known ? undefined : await client.get(ref, { signal })
      if (object) found.set(key, decodeContent(object))
      if (known || object) any = true
      if (any) break
    }
    if (!any && !optional) missing.push(oneOf.map(sourceKey).join(' or '))
  }
  return { found, missing: [...new Set(missing)] }
}

export function requiredInputs(spec: AnsibleRunSpec): readonly InputRequirement[] {
  const mounts = spec.extraMounts ?? []
  const volumes = mounts.flatMap(({ volumes: all, mounts: places }) =>
    all.flatMap((volume) => {
      const path = places.find(({ name }) => name === volume.name)?.mountPath ?? ''
      return volumeRequirements(volume, path)
    }),
  )
  const variables = (spec.env ?? []).flatMap(({ valueFrom }): readonly InputRequirement[] => {
    const { secretKeyRef, configMapKeyRef } = (valueFrom ?? {}) as Record<string, KeyRef | undefined>
    const of = (kind: Source['kind'], ref: KeyRef | undefined): readonly InputRequirement[] =>
      ref?.name ? [{ oneOf: [{ kind, name: ref.name }], optional: ref.optional ?? false }] : []
    return [...of('Secret', secretKeyRef), ...of('ConfigMap', configMapKeyRef)]
  })
  const { envConfigMapName } = spec
  const common: readonly InputRequirement[] = envConfigMapName
    ? [{ oneOf: [{ kind: 'ConfigMap', name: envConfigMapName }], optional: true }]
    : []
  return [...volumes, ...variables, ...common]
}

export interface KeyRef {
  readonly name?: string
  readonly key?: string
  readonly optional?: boolean
}

/** The Secret or ConfigMap of a volume. An inventory is read from a Secret first, because it contains passwords. */
export function volumeSource(
  volume: Volume,
  mountPath: string,
): { readonly oneOf: readonly Source[]; readonly from: VolumeSource } | undefined {
  const { secret, configMap } = volume as {
    readonly secret?: VolumeSource
    readonly configMap?: VolumeSource
  }
  if (secret?.secretName) return { oneOf: [{ kind: 'Secret', name: secret.secretName }], from: secret }
  if (!configMap?.name) return undefined
  const plain: Source = { kind: 'ConfigMap', name: configMap.name }
  const inventory = mountPath === INVENTORY_FOLDER || mountPath.startsWith(`${INVENTORY_FOLDER}/`)
  return {
    oneOf: inventory ? [{ kind: 'Secret', name: configMap.name }, plain] : [plain],
    from: configMap,
  }
}

export interface VolumeSource {
  readonly secretName?: string
  readonly name?: string
  readonly optional?: boolean
  readonly items?: readonly { readonly key: string; readonly path: string }[]
}

function volumeRequirements(volume: Volume, mountPath: string): readonly InputRequirement[] {
  const source = volumeSource(volume, mountPath)
  return source ? [{ oneOf: source.oneOf, optional: source.from.optional ?? false }] : []
}

function decodeContent(object: KubeObject): Content {
  const entries = (field: string): readonly (readonly [string, string])[] =>
    Object.entries((object[field] as Record<string, string> | undefined) ?? {})
  const decoded = object.kind === 'Secret' ? 'data' : 'binaryData'
  return new Map([
    ...(object.kind === 'ConfigMap' ? entries('data') : []).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...entries(decoded).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  ])
}
