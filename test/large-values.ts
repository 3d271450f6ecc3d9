/** Builds objects of one tenant that are as large as etcd stores. */
import type { KindDefinition } from '../src/api/crd.ts'
import type { KubeObject } from '../src/api/object.ts'

export const TENANT = 'tenant'
export const NODE = 'edpm-compute-0'

export interface LargestObject {
  /** `many subnets` */
  readonly shape: string
  readonly object: KubeObject
}

/** etcd stores requests up to 1.5 MiB; the rest is for what the API server and the operator add. */
export const BYTES = 1_400_000
export const VARS = 128 * 1024

export function build(kind: KindDefinition, spec: object, more: Partial<KubeObject['metadata']> = {}): KubeObject {
  const name = { NetConfig: 'netconfig', OpenStackDataPlaneNode: NODE }[kind.kind] ?? 'largest'
  const metadata = { name, namespace: TENANT, ...more }
  return { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata, spec }
}

/** As many items as fit into the bytes, at most `limit`. */
export function fill<T>(make: (index: number) => T, bytes = BYTES, limit = Number.POSITIVE_INFINITY): T[] {
  const items: T[] = []
  for (let used = 0; used < bytes && items.length < limit; ) {
    const item = make(items.length)
    items.push(item)
    used += JSON.stringify(item).length + 1
  }
  return items
}

export const address = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`

export function chunk<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
