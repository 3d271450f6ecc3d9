import { describe, expect, it } from 'vitest'
import { ago, judge, object } from '../../../test/readiness.ts'
import { standardGrace } from './verdict.ts'

describe('workloads', () => {
  const labels = { app: 'x' }
  const deployment = (status: object) =>
    object({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'ns',
      metadata: { generation: 1 },
      spec: { replicas: 2, selector: { matchLabels: labels } },
      status,
    })
  const pod = (reason: string, restartCount = 0) =>
    object({
      kind: 'Pod',
      namespace: 'ns',
      name: 'x-1',
      metadata: { labels },
      status: {
        phase: 'Pending',
        startTime: ago(standardGrace.podMs),
        containerStatuses: [
          {
            name: 'c',
            image: 'quay.io/x',
            restartCount,
            state: { waiting: { reason, message: 'not found' } },
          },
        ],
      },
    })
  const half = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1 }

  it('count what is available', () => {
    expect(judge(deployment(half))).toEqual({
      kind: 'progressing',
      waits: 'Deployment ns/it: 1 of 2 pods available',
    })
    expect(judge(deployment({ ...half, availableReplicas: 2 })).kind).toBe('ready')
    expect(judge(deployment({ ...half, availableReplicas: 2, replicas: 3 })).kind).toBe('progressing')
  })

  it('name the image that cannot be pulled and the container that crashes', () => {
    expect(judge(deployment(half), [pod('ImagePullBackOff')])).toEqual({
      kind: 'failed',
      cause: 'Pod ns/x-1 cannot pull quay.io/x: not found',
      next: 'kubectl -n ns describe pod x-1',
    })
    expect(judge(deployment(half), [pod('CrashLoopBackOff', 5)])).toMatchObject({
      kind: 'failed',
      next: 'kubectl -n ns logs x-1 -c c --previous',
    })
    expect(judge(deployment(half), [pod('CrashLoopBackOff', 1)]).kind).toBe('progressing')
  })

  it('wait for a claim, and name a storage class that does not exist', () => {
    const claim = object({
      kind: 'PersistentVolumeClaim',
      namespace: 'ns',
      spec: { storageClassName: 'fast' },
      status: { phase: 'Pending' },
    })
    const other = object({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: 'slow' })
    expect(judge(claim).kind).toBe('progressing')
    expect(judge(claim, [other])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('storage class fast'),
    })
  })
})
