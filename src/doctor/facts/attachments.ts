/** Parses network attachments, the addresses that whereabouts allocated, and the networks of pods. */

import { isRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { allocatedPodAddresses, type PodAddress } from '../../api/pod-networks.ts'
import { getField, getString } from '../../api/raw-object.ts'
import { parseRange, type Range } from '../../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../../net/range-set.ts'
import { type Attachment, readAttachment } from '../../site/import/attachment.ts'
import type { ClusterState } from '../cluster-state.ts'

export const NAD = 'k8s.cni.cncf.io/NetworkAttachmentDefinition'
export const IP_POOL = 'whereabouts.cni.cncf.io/IPPool'

export interface ParsedAttachment {
  readonly object: KubeObject
  readonly namespace: string
  /** `openstack/internalapi`. */
  readonly name: string
  readonly read: Attachment
  readonly networkName: string | undefined
}

export function attachments(cluster: ClusterState): readonly ParsedAttachment[] {
  return cluster.all(NAD).flatMap((object) => {
    const config = getField(object, 'spec', 'config')
    const read = readAttachment(config)
    if (typeof read === 'string') return []
    const { namespace = '', name } = object.metadata
    return [{ object, namespace, name: `${namespace}/${name}`, read, networkName: parseNetworkName(config) }]
  })
}

function parseNetworkName(config: unknown): string | undefined {
  const value = typeof config === 'string' ? (JSON.parse(config) as unknown) : config
  const plugins = isRecord(value) && Array.isArray(value['plugins']) ? (value['plugins'] as unknown[]) : [value]
  return getString(plugins[0], 'ipam', 'network_name')
}

/** One span of an attachment for pods. */
export interface PodSpan extends ParsedAttachment {
  readonly cidr: string
  readonly span: string
  readonly range: Range
  /** The span without excluded addresses. */
  readonly open: RangeSet
}

export function podSpans(cluster: ClusterState): readonly PodSpan[] {
  return cluster.derive(attachments).flatMap((readAttachment) =>
    readAttachment.read.pods.flatMap(({ cidr, span, reserved }) => {
      const range = parseRange(span)
      if (!range) return []
      const excluded = rangeSet(reserved.flatMap((text) => parseRange(text) ?? []))
      return [{ ...readAttachment, cidr, span, range, open: subtract([range], excluded) }]
    }),
  )
}

export function podAddresses(cluster: ClusterState): readonly PodAddress[] {
  return cluster.all(IP_POOL).flatMap(allocatedPodAddresses)
}

/** The IPPool of an attachment is named after its network name, if set, and its range. */
export function isPoolOf(pool: KubeObject, { cidr, networkName }: PodSpan): boolean {
  const range = cidr.replaceAll(/[:/]/g, '-')
  return pool.metadata.name === (networkName === undefined ? range : `${networkName}-${range}`)
}
