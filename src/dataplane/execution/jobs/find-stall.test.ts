import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { findStall } from './find-stall.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')

function pod(status: object, metadata: Partial<KubeObject['metadata']> = {}, nodeName?: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'run-x', namespace: 'openstack', ...metadata },
    spec: nodeName === undefined ? {} : { nodeName },
    status,
  }
}

const working = { containerStatuses: [{ state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }] }
const ready = (status: string) => ({ conditions: [{ type: 'Ready', status }] })
const waiting = (reason: string, message?: string) => ({
  phase: 'Pending',
  containerStatuses: [{ state: { waiting: { reason, message } } }],
})

describe('findStall', () => {
  it('finds nothing wrong with a pod that works, starts or has ended', () => {
    const pods = [
      pod({ phase: 'Running', ...working, ...ready('True') }, {}, 'worker-1'),
      pod({ ...waiting('ContainerCreating'), ...ready('False') }, {}, 'worker-1'),
      pod({ phase: 'Pending' }),
      pod({ phase: 'Failed', ...ready('False') }, { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'worker-1'),
    ]
    expect(findStall(pods, NOW)).toBeUndefined()
    expect(findStall([], NOW)).toBeUndefined()
  })

  it('names the node of a pod that was marked as not ready while its container runs', () => {
    const lost = pod({ phase: 'Running', ...working, ...ready('False') }, {}, 'worker-1')
    expect(findStall([lost], NOW)).toMatchObject({
      code: 'SL7510',
      message: expect.stringContaining('node worker-1 does not answer'),
      remedy: expect.stringContaining(
        'kubectl taint node worker-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
      ),
    })
  })

  it('names the node of a pod that is still there a minute after its deletion, and not before', () => {
    const deleted = (deletionTimestamp: string) =>
      pod({ phase: 'Running', ...working, ...ready('False') }, { deletionTimestamp }, 'worker-1')
    expect(findStall([deleted('2026-01-01T00:09:30Z')], NOW)).toBeUndefined()
    expect(findStall([deleted('2026-01-01T00:08:30Z')], NOW)).toMatchObject({ code: 'SL7510' })
  })

  it('says why a pod does not start', () => {
    const reason = '0/3 nodes are available'
    const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: reason }
    expect(findStall([pod({ phase: 'Pending', conditions: [unschedulable] })], NOW)).toMatchObject({
      code: 'SL7511',
      message: `pod run-x does not start: ${reason}`,
      remedy: expect.stringContaining('kubectl -n openstack describe pod run-x'),
    })
    const imageless = pod(waiting('ImagePullBackOff', 'Back-off pulling image "x"'), {}, 'worker-1')
    expect(findStall([imageless], NOW)).toMatchObject({ code: 'SL7511', message: expect.stringContaining('Back-off') })
  })

  it('keeps a long reason short, because every node of the run repeats it', () => {
    const stall = findStall([pod(waiting('ErrImagePull', 'x'.repeat(5_000)), {}, 'worker-1')], NOW)
    expect(stall?.message.length).toBeLessThan(400)
  })
})
