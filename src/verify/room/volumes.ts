/** Volumes that control planes will claim, by storage class: read off the rendered objects themselves. */
import type { KubeObject } from '../../api/object.ts'

type Fields = Readonly<Record<string, unknown>>

export function countVolumes(objects: readonly KubeObject[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const object of objects.filter(({ kind }) => kind === 'OpenStackControlPlane')) {
    const { spec } = object as { readonly spec?: Fields }
    const standard = typeof spec?.['storageClass'] === 'string' ? spec['storageClass'] : ''
    visitStorage(spec ?? {}, 1, (fields, replicas) => {
      const name = typeof fields['storageClass'] === 'string' ? fields['storageClass'] : standard
      counts.set(name, (counts.get(name) ?? 0) + replicas)
    })
    // Every message queue keeps its own on disk; its template does not say so.
    const queues = countQueueVolumes(spec)
    if (queues > 0) counts.set(standard, (counts.get(standard) ?? 0) + queues)
  }
  return counts
}

/** Whoever asks for storage claims one volume for each replica; the number may stand one level above. */
function visitStorage(fields: Fields, above: number, found: (fields: Fields, replicas: number) => void): void {
  if (fields['enabled'] === false) return
  const { replicas } = fields
  const own = typeof replicas === 'number' ? replicas : above
  if (typeof fields['storageRequest'] === 'string') found(fields, own)
  for (const value of Object.values(fields)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (typeof one === 'object' && one !== null) visitStorage(one as Fields, own, found)
  }
}

function countQueueVolumes(spec: Fields | undefined): number {
  const rabbitmq = spec?.['rabbitmq'] as { templates?: Record<string, { replicas?: number }> } | undefined
  return Object.values(rabbitmq?.templates ?? {}).reduce((sum, { replicas = 1 }) => sum + replicas, 0)
}
