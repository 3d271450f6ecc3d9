/**
 * Who else hands out addresses in the cluster: MetalLB from its pools, whereabouts from the ranges of network attachments.
 * None of them asks the others, so an address of two is given twice.
 *
 * Pure, over the objects as they are stored.
 */
import type { NetConfigNetwork } from '../api/netconfig.ts'
import { type KubeObject, keyOf } from '../api/object.ts'
import { formatRange, parseRange, type Range, rangesOverlap } from '../net/range.ts'
import { readAttachment } from '../site/import/attachment.ts'

export const pools = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' } as const
export const attachments = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' } as const

export interface Neighbour {
  readonly what: string
  readonly ranges: readonly Range[]
}

/** Those that a cloud can meet: pools that serve its namespace, attachments that are in it. */
export function neighboursOf(objects: readonly KubeObject[], namespace: string): readonly Neighbour[] {
  return objects.flatMap((one): readonly Neighbour[] => {
    if (one.kind === pools.kind) return servesNamespace(one, namespace) ? [poolNeighbour(one)] : []
    return one.metadata.namespace === namespace ? [attachmentNeighbour(one)] : []
  })
}

interface PoolSpec {
  readonly addresses?: readonly string[]
  readonly serviceAllocation?: { readonly namespaces?: readonly string[] }
}

function servesNamespace(pool: KubeObject, namespace: string): boolean {
  const named = (pool['spec'] as PoolSpec | undefined)?.serviceAllocation?.namespaces
  return named === undefined || named.length === 0 || named.includes(namespace)
}

function poolNeighbour(pool: KubeObject): Neighbour {
  const { addresses = [] } = (pool['spec'] ?? {}) as PoolSpec
  return { what: `IPAddressPool ${keyOf(pool.metadata)}`, ranges: read(addresses) }
}

function attachmentNeighbour(attachment: KubeObject): Neighbour {
  const { config } = (attachment['spec'] ?? {}) as { readonly config?: unknown }
  const known = readAttachment(config)
  const spans = typeof known === 'string' ? [] : known.pods.map(({ span }) => span)
  return { what: `NetworkAttachmentDefinition ${keyOf(attachment.metadata)}`, ranges: read(spans) }
}

function read(texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => parseRange(text) ?? [])
}

/** One line for each range that a neighbour hands out, too. */
export function overlapWarnings(
  networks: readonly NetConfigNetwork[],
  neighbours: readonly Neighbour[],
): readonly string[] {
  return networks.flatMap((network, n) =>
    network.subnets.flatMap((subnet, s) =>
      subnet.allocationRanges.flatMap(({ start, end }, r) => {
        const own = parseRange(`${start}-${end}`)
        if (!own) return []
        const field = `spec.networks[${n}].subnets[${s}].allocationRanges[${r}]`
        return neighbours.flatMap(({ what, ranges }) =>
          ranges
            .filter((range) => rangesOverlap(range, own))
            .map(
              (range) =>
                `${field}: ${formatRange(own)} overlaps ${formatRange(range)} of ${what}: an address may be given twice`,
            ),
        )
      }),
    ),
  )
}
