/**
 * Decides whether a namespace may take addresses of a subnet on a segment.
 *
 * Pure. A VLAN id or a segment annotation can be copied into any NetConfig, so it proves nothing. The administrator may
 * list the namespaces of a segment; else the namespace that holds addresses decides, by an annotation of its NetConfig.
 */
import { type NetConfig, SHARED_WITH_ANNOTATION, selectNetConfig } from '../../api/netconfig.ts'

export interface SegmentSharing {
  /** Whether a namespace lets another one take addresses of its subnets. */
  readonly mayShare: (owner: string, namespace: string) => boolean
  /** The namespaces of a segment that the administrator listed, by its name or as `*`; none for any other segment. */
  readonly owners: (segment: string) => readonly string[]
}

export function sharedNamespaces({ metadata }: Pick<NetConfig, 'metadata'>): readonly string[] {
  const text = metadata.annotations?.[SHARED_WITH_ANNOTATION] ?? ''
  return text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

/** `pairs`: `segment=namespace`; a segment may have several, and `*` is every segment without. */
export function createSegmentSharing(
  listNetConfigs: (namespace: string) => readonly NetConfig[],
  pairs: readonly string[] = [],
): SegmentSharing {
  const owners = new Map<string, string[]>()
  for (const pair of pairs) {
    const end = pair.lastIndexOf('=')
    const segment = pair.slice(0, end)
    owners.set(segment, [...(owners.get(segment) ?? []), pair.slice(end + 1)])
  }
  return {
    mayShare: (owner, namespace) => {
      const netConfig = selectNetConfig(listNetConfigs(owner))
      return netConfig !== undefined && sharedNamespaces(netConfig).includes(namespace)
    },
    owners: (segment) => owners.get(segment) ?? owners.get('*') ?? [],
  }
}
