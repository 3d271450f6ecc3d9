/**
 * Finds other programs that assign addresses: MetalLB from its pools, whereabouts from the ranges of attachments.
 *
 * Pure. None of them asks the others, so an address that two of them may assign is assigned twice.
 */
import type { NetConfigNetwork } from '../api/netconfig.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { formatRange, parseRange, type Range, rangesOverlap } from '../net/range.ts'
import { overlappingRanges, rangeSet } from '../net/range-set.ts'
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
  // Merged and sorted: most ranges overlap none and are not compared with each of them.
  const assigned = rangeSet(allocators.flatMap(({ ranges }) => ranges))
  const warnings: string[] = []
  for (const { path, start, end } of allocationRanges(networks)) {
    const allocationRange = parseRange(`${start}-${end}`)
    if (!allocationRange || overlappingRanges(assigned, allocationRange).length === 0) continue
    const field = `${path}: ${formatRange(allocationRange)}`
    for (const { source, ranges } of allocators) {
      for (const range of ranges) {
        if (!rangesOverlap(range, allocationRange)) continue
        warnings.push(`${field} overlaps ${formatRange(range)} of ${source}: an address may be assigned twice`)
      }
    }
    if (warnings.length >= MAX_WARNINGS) return warnings.slice(0, MAX_WARNINGS)
  }
  return warnings
}

/** Further ones help no reader. */
const MAX_WARNINGS = 100

function allocationRanges(
  networks: readonly NetConfigNetwork[],
): readonly { readonly path: string; readonly start: string; readonly end: string }[] {
  return networks.flatMap((network, n) =>
    network.subnets.flatMap((subnet, s) =>
      subnet.allocationRanges.map(({ start, end }, r) => {
        const path = `spec.networks[${n}].subnets[${s}].allocationRanges[${r}]`
        return { path, start, end }
      }),
    ),
  )
}
