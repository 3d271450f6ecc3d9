import { describe, expect, it } from 'vitest'
import { ago, judge, object } from '../../../test/readiness.ts'
import { defaultGrace } from './verdict.ts'

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
        startTime: ago(defaultGrace.podMs),
        containerStatuses: [
          { name: 'c', image: 'quay.io/x', restartCount, state: { waiting: { reason, message: 'not found' } } },
        ],
      },
    })
  const half = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1 }

  it('are ready when all replicas are available', () => {
    expect(judge(deployment(half))).toEqual({ kind: 'progressing', waits: 'Deployment ns/it: 1 of 2 pods available' })
    expect(judge(deployment({ ...half, availableReplicas: 2 })).kind).toBe('ready')
    expect(judge(deployment({ ...half, availableReplicas: 2, replicas: 3 })).kind).toBe('progressing')
  })

  it('report an image that cannot be pulled and a crashing container', () => {
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

  const statefulSet = (status: object, updateStrategy: object = { type: 'RollingUpdate' }) =>
    object({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      namespace: 'ns',
      metadata: { generation: 1 },
      spec: { replicas: 3, updateStrategy },
      status: { observedGeneration: 1, replicas: 3, readyReplicas: 3, currentRevision: 'a', ...status },
    })
  const rolling = (updatedReplicas: number) => ({ updateRevision: 'b', updatedReplicas })

  it('wait for the rollout of a StatefulSet', () => {
    expect(judge(statefulSet({ updateRevision: 'a', updatedReplicas: 3 })).kind).toBe('ready')
    expect(judge(statefulSet(rolling(2)))).toEqual({
      kind: 'progressing',
      waits: 'StatefulSet ns/it to roll to revision b',
    })
  })

  it('do not wait for pods below a partition or with OnDelete', () => {
    const partition = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }
    expect(judge(statefulSet(rolling(0), partition)).kind).toBe('progressing')
    expect(judge(statefulSet(rolling(1), partition)).kind).toBe('ready')
    expect(judge(statefulSet(rolling(0), { type: 'OnDelete' })).kind).toBe('ready')
    const unready = { ...rolling(1), readyReplicas: 2 }
    expect(judge(statefulSet(unready, partition)).kind).toBe('progressing')
  })

  it('wait until surplus pods of a StatefulSet have ended', () => {
    const four = { replicas: 4, readyReplicas: 4, updateRevision: 'a', updatedReplicas: 4 }
    expect(judge(statefulSet(four))).toEqual({ kind: 'progressing', waits: 'StatefulSet ns/it to end 1 more pod' })
  })

  it('wait for a claim and report a missing storage class', () => {
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

  it('fail without a default class after the grace period', () => {
    const slow = object({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: 'slow' })
    const claim = (spec: object, ageMs: number) =>
      object({
        kind: 'PersistentVolumeClaim',
        namespace: 'ns',
        metadata: { creationTimestamp: ago(ageMs) },
        spec,
        status: { phase: 'Pending' },
      })
    const long = defaultGrace.allocationMs
    expect(judge(claim({}, 0), [slow]).kind).toBe('progressing')
    expect(judge(claim({}, long), [slow])).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('no class is the default'),
    })
    // An empty class name means a volume that is created manually.
    expect(judge(claim({ storageClassName: '' }, long), [slow]).kind).toBe('progressing')
  })
})
