/**
 * Finds other programs that assign addresses: MetalLB from its pools, whereabouts from the ranges of attachments.
 *
 * Pure. None of them asks the others, so an address that two of them may assign is assigned twice.
 */
import type { NetConfigNetwork } from '../api/netconfig.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { formatRange, parseRange, type Range, rangesOverlap } from '../net/range.ts'
import { readAttachment } from '../site/import/attachment.ts'

export const addressPools = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' } as const
export const attachments = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' } as const

export interface OtherAllocator {
  readonly source: string
  readonly ranges: readonly Range[]
}

/** Those that concern a cloud: pools that serve its namespace, attachments in it. */
export function findOtherAllocators(objects: readonly KubeObject[], namespace: string): readonly OtherAllocator[] {
  return objects.flatMap((object): readonly OtherAllocator[] => {
    if (object.kind === addressPools.kind) return servesNamespace(object, namespace) ? [poolAllocator(object)] : []
    return object.metadata.namespace === namespace ? [attachmentAllocator(object)] : []
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

function poolAllocator(pool: KubeObject): OtherAllocator {
  const { addresses = [] } = (pool['spec'] ?? {}) as PoolSpec
  return { source: `IPAddressPool ${objectKey(pool.metadata)}`, ranges: parseRanges(addresses) }
}

function attachmentAllocator(attachment: KubeObject): OtherAllocator {
  const { config } = (attachment['spec'] ?? {}) as { readonly config?: unknown }
  const attached = readAttachment(config)
  const spans = typeof attached === 'string' ? [] : attached.pods.map(({ span }) => span)
  return { source: `NetworkAttachmentDefinition ${objectKey(attachment.metadata)}`, ranges: parseRanges(spans) }
}

function parseRanges(texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => parseRange(text) ?? [])
}

/** One line for each overlap of an allocation range with a range of another allocator. */
export function overlapWarnings(
  networks: readonly NetConfigNetwork[],
  allocators: readonly OtherAllocator[],
): readonly string[] {
  return networks.flatMap((network, n) =>
    network.subnets.flatMap((subnet, s) =>
      subnet.allocationRanges.flatMap(({ start, end }, r) => {
        const allocationRange = parseRange(`${start}-${end}`)
        if (!allocationRange) return []
        const field = `spec.networks[${n}].subnets[${s}].allocationRanges[${r}]: ${formatRange(allocationRange)}`
        return allocators.flatMap(({ source, ranges }) =>
          ranges
            .filter((range) => rangesOverlap(range, allocationRange))
            .map((range) => `${field} overlaps ${formatRange(range)} of ${source}: an address may be assigned twice`),
        )
      }),
    ),
  )
}
