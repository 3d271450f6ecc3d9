/** Builds what hosts are judged by from a snapshot, and names the Secrets and ConfigMaps to read for it. Pure. */
import { asRecord } from '../api/json.ts'
import { type GroupVersionKind, type KubeObject, objectKey } from '../api/object.ts'
import { formatGroupKind, indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import type { Content } from './compare-service.ts'
import { hashConfigMap, hashSecret } from './content-hash.ts'
import {
  deploymentKind,
  NODE_SET_LABEL,
  nodeSetKind,
  readNodeSet,
  readService,
  type Source,
  serviceKind,
  versionKind,
} from './data-plane.ts'
import type { HostsInput } from './judge-hosts.ts'

/** Kinds that are listed. */
export const hostKinds: readonly GroupVersionKind[] = [nodeSetKind, deploymentKind, serviceKind, versionKind]

export interface ContentRef {
  readonly kind: Source['kind']
  readonly namespace: string
  readonly name: string
}

/** Secrets and ConfigMaps that services of node sets and their inventories read, each once. */
export function referencedContents(snapshot: Snapshot): readonly ContentRef[] {
  const index = indexSnapshot(snapshot)
  const services = new Map(
    index
      .all(formatGroupKind(serviceKind))
      .map(readService)
      .map((service) => [objectKey(service), service]),
  )
  const refs = index
    .all(formatGroupKind(nodeSetKind))
    .map(readNodeSet)
    .flatMap(({ namespace, services: names, sources, hosts }) => {
      const used = names.flatMap((name) => services.get(objectKey({ namespace, name }))?.sources ?? [])
      return [...used, ...sources, ...hosts.flatMap((host) => host.sources)].map(({ kind, name }) => ({
        kind,
        namespace,
        name,
      }))
    })
  return [...new Map(refs.map((ref) => [formatRef(ref), ref])).values()]
}

/** Contents that were read, by `formatRef`. A Secret is kept as its hash only. */
export type Contents = ReadonlyMap<string, Content>

export function formatRef({ kind, namespace, name }: ContentRef): string {
  return `${kind} ${namespace}/${name}`
}

export function readContent(object: KubeObject | undefined): Content {
  if (!object) return { kind: 'absent' }
  const hash = object.kind === 'Secret' ? hashSecret(object) : hashConfigMap(object)
  return hash === undefined ? { kind: 'unread', reason: 'its values are not in the dump' } : { kind: 'hash', hash }
}

export interface CertificateSecrets {
  readonly secrets: readonly KubeObject[]
  readonly unread?: string
}

/** Without `contents` and `certificates`, Secrets and ConfigMaps are not compared. */
export function buildHostsInput(
  snapshot: Snapshot,
  contents?: Contents,
  { secrets, unread }: CertificateSecrets = { secrets: [] },
): HostsInput {
  const index = indexSnapshot(snapshot)
  const isServiceUnread = index.unread(formatGroupKind(serviceKind)) !== undefined
  return {
    nodeSets: index.all(formatGroupKind(nodeSetKind)),
    deployments: index.all(formatGroupKind(deploymentKind)),
    services: isServiceUnread ? undefined : index.all(formatGroupKind(serviceKind)),
    versions: index.all(formatGroupKind(versionKind)),
    content: (kind, namespace, name) =>
      contents
        ? (contents.get(formatRef({ kind, namespace, name })) ?? { kind: 'unread', reason: 'it was not read' })
        : { kind: 'ignored' },
    certificates: secrets
      .filter(({ metadata }) => metadata.labels?.[NODE_SET_LABEL] !== undefined)
      .map((secret) => ({
        namespace: secret.metadata.namespace ?? '',
        name: secret.metadata.name,
        labels: asRecord(secret.metadata.labels) as Readonly<Record<string, string>>,
        hash: hashSecret(secret),
      })),
    ...(unread !== undefined && { certificatesUnread: unread }),
  }
}
