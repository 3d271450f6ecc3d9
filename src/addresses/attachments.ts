/** Reads the spans from which attachments give addresses to pods, and the whereabouts IPPool of each. Pure. */
import { isRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getField, getString } from '../api/raw-object.ts'
import { parseRange, type Range } from '../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../net/range-set.ts'
import { type Attachment, readAttachment } from '../site/import/attachment.ts'

export interface ParsedAttachment {
  readonly object: KubeObject
  readonly namespace: string
  /** `openstack/internalapi`. */
  readonly name: string
  readonly read: Attachment
  readonly networkName: string | undefined
}

/** Without attachments whose configuration cannot be read. */
export function readAttachments(definitions: readonly KubeObject[]): readonly ParsedAttachment[] {
  return definitions.flatMap((object) => {
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

export function readPodSpans(attachments: readonly ParsedAttachment[]): readonly PodSpan[] {
  return attachments.flatMap((attachment) =>
    attachment.read.pods.flatMap(({ cidr, span, reserved }) => {
      const range = parseRange(span)
      if (!range) return []
      const excluded = rangeSet(reserved.flatMap((text) => parseRange(text) ?? []))
      return [{ ...attachment, cidr, span, range, open: subtract([range], excluded) }]
    }),
  )
}

/** The IPPool of an attachment is named after its network name, if set, and its range. */
export function poolName({ cidr, networkName }: Pick<PodSpan, 'cidr' | 'networkName'>): string {
  const range = cidr.replaceAll(/[:/]/g, '-')
  return networkName === undefined ? range : `${networkName}-${range}`
}
