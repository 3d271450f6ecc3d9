/**
 * Decides whether a namespace may take addresses of a subnet that another namespace uses on the same segment.
 *
 * Pure. A VLAN id or a segment annotation can be copied into any NetConfig, so it proves nothing: the
 * namespace that holds addresses decides, by an annotation of its NetConfig.
 */
import { type NetConfig, SHARED_WITH_ANNOTATION, selectNetConfig } from '../../api/netconfig.ts'

/** Whether the namespace that holds addresses lets another one take addresses of the same subnet. */
export type MayShare = (holder: string, namespace: string) => boolean

export function sharedNamespaces({ metadata }: Pick<NetConfig, 'metadata'>): readonly string[] {
  const text = metadata.annotations?.[SHARED_WITH_ANNOTATION] ?? ''
  return text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

export function createMayShare(listNetConfigs: (namespace: string) => readonly NetConfig[]): MayShare {
  return (holder, namespace) => {
    const netConfig = selectNetConfig(listNetConfigs(holder))
    return netConfig !== undefined && sharedNamespaces(netConfig).includes(namespace)
  }
}
