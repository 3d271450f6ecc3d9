import { describe, expect, it } from 'vitest'
import { isCollected } from '../../test/garbage.ts'
import { type ManualClock, manualClock, settled } from '../../test/manual-clock.ts'
import { type MemoryCluster, memoryCluster } from '../../test/memory-cluster.ts'
import type { KubeObject } from '../api/object.ts'
import { createEventRecorder, type EventRecord, type EventRecorder, type EventSettings } from './event-recorder.ts'

function pool(name: string): KubeObject {
  const metadata = { name, namespace: 'metallb-system', uid: `uid-of-${name}`, resourceVersion: 'v1w' }
  return { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata }
}

function exhausted(name: string, note = 'no address is left'): EventRecord {
  return { regarding: pool(name), type: 'Warning', reason: 'PoolExhausted', action: 'Allocate', note }
}

interface Harness {
  readonly cluster: MemoryCluster
  readonly clock: ManualClock
  readonly recorder: EventRecorder
  readonly stop: () => Promise<void>
}

function startRecorder(settings: Partial<EventSettings> = {}): Harness {
  const cluster = memoryCluster()
  const clock = manualClock(Date.parse('2026-11-15T10:00:00Z'))
  const recorder = createEventRecorder({
    client: cluster.client,
    controller: 'stackloom.io/ipam',
    instance: 'stackloom-0',
    clock,
    settings,
  })
  const control = new AbortController()
  const running = recorder.run(control.signal)
  const stop = (): Promise<void> => {
    control.abort()
    return running
  }
  return { cluster, clock, recorder, stop }
}

const writes = ({ cluster }: Harness, verb: string): number =>
  cluster.requests.filter((request) => request.startsWith(`${verb} Event`)).length

describe('the event recorder', () => {
  it('writes controller, action, object and reason in the form of events.k8s.io/v1', async () => {
    const harness = startRecorder()
    harness.recorder.record({ ...exhausted('a'), related: pool('b') })
    await settled()
    expect(harness.cluster.objects('Event')[0]).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      metadata: { name: expect.stringMatching(/^a\.[0-9a-f]+$/), namespace: 'metallb-system' },
      eventTime: '2026-11-15T10:00:00.000000Z',
      reportingController: 'stackloom.io/ipam',
      reportingInstance: 'stackloom-0',
      type: 'Warning',
      reason: 'PoolExhausted',
      action: 'Allocate',
      note: 'no address is left',
      regarding: { kind: 'IPAddressPool', namespace: 'metallb-system', name: 'a', uid: 'uid-of-a' },
      related: { kind: 'IPAddressPool', name: 'b' },
    })
    expect(harness.cluster.objects('Event')[0]).not.toHaveProperty('series')
    await harness.stop()
  })

  it('combines repeated events into a series that is written at intervals', async () => {
    const harness = startRecorder({ seriesIntervalMs: 10_000 })
    for (let second = 0; second < 60; second += 1) {
      harness.recorder.record(exhausted('a'))
      await harness.clock.settle(1_000)
    }
    await harness.clock.settle(10_000)
    const [event, ...others] = harness.cluster.objects('Event')
    expect(others).toEqual([])
    expect(event?.['series']).toEqual({ count: 60, lastObservedTime: '2026-11-15T10:00:59.000000Z' })
    expect([writes(harness, 'create'), writes(harness, 'patch')]).toEqual([1, 6])
    await harness.stop()
  })

  it('keeps different events apart, and starts a new series after the timeout', async () => {
    const harness = startRecorder({ seriesTimeoutMs: 60_000 })
    harness.recorder.record(exhausted('a'))
    harness.recorder.record(exhausted('b'))
    harness.recorder.record(exhausted('a', 'another story'))
    await harness.clock.settle(61_000)
    harness.recorder.record(exhausted('a'))
    await settled()
    expect(harness.cluster.objects('Event')).toHaveLength(4)
    await harness.stop()
  })

  it('writes a burst before the first write as one event with its count', async () => {
    const harness = startRecorder()
    for (let time = 0; time < 5; time += 1) harness.recorder.record(exhausted('a'))
    await settled()
    expect(harness.cluster.objects('Event')[0]?.['series']).toMatchObject({ count: 5 })
    expect(writes(harness, 'create')).toBe(1)
    await harness.stop()
  })

  it('writes at a bounded rate, however many events there are', async () => {
    const harness = startRecorder({ burst: 10, perSecond: 2 })
    for (let index = 0; index < 500; index += 1) harness.recorder.record(exhausted(`p${index}`))
    for (let tenth = 0; tenth < 200; tenth += 1) await harness.clock.settle(100)
    expect(writes(harness, 'create')).toBeLessThanOrEqual(10 + 2 * 20)
    expect(writes(harness, 'create')).toBeGreaterThanOrEqual(2 * 20)
    await harness.stop()
  })

  it('drops the oldest when there are too many, and counts dropped events', async () => {
    const harness = startRecorder({ maxSeries: 3, burst: 1, perSecond: 0.001 })
    for (let index = 0; index < 10; index += 1) harness.recorder.record(exhausted(`p${index}`))
    expect(harness.recorder.dropped()).toBe(7)
    await harness.stop()
  })

  it('retries while the cluster is unreachable, but not forever, and never blocks the caller', async () => {
    const harness = startRecorder({ attempts: 4, retry: { initialMs: 100, maxMs: 1_000 } })
    harness.cluster.reachable(false)
    harness.recorder.record(exhausted('a'))
    await harness.clock.settle(250)
    harness.cluster.reachable(true)
    await harness.clock.settle(1_000)
    expect(harness.cluster.objects('Event')).toHaveLength(1)
    harness.cluster.reachable(false)
    harness.recorder.record(exhausted('b'))
    await harness.clock.settle(60_000)
    expect(writes(harness, 'create')).toBe(3 + 4)
    expect(harness.recorder.dropped()).toBe(1)
    await harness.stop()
  })

  it('creates the event again when the API server has deleted it', async () => {
    const harness = startRecorder({ seriesIntervalMs: 1_000 })
    harness.recorder.record(exhausted('a'))
    await settled()
    const [event] = harness.cluster.objects('Event')
    if (event) await harness.cluster.client.delete({ ...event, ...event.metadata } as never)
    harness.recorder.record(exhausted('a'))
    await harness.clock.settle(1_000)
    expect(harness.cluster.objects('Event')[0]?.['series']).toMatchObject({ count: 2 })
    await harness.stop()
  })

  it('truncates a note to what the API accepts, between characters', async () => {
    const harness = startRecorder()
    harness.recorder.record(exhausted('a', 'ü'.repeat(2_000)))
    await settled()
    const note = String(harness.cluster.objects('Event')[0]?.['note'])
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024)
    expect(note).toMatch(/^ü+…$/)
    await harness.stop()
  })

  it('does not keep the objects that events are about', async () => {
    const harness = startRecorder()
    const about = (): WeakRef<object> => {
      const regarding = { ...pool('a'), spec: { text: 'x'.repeat(1_000) } }
      harness.recorder.record({ ...exhausted('a'), regarding })
      return new WeakRef(regarding)
    }
    expect(await isCollected(about())).toBe(true)
    await harness.stop()
  })

  it('writes remaining events at the stop, if that is quick', async () => {
    const harness = startRecorder({ burst: 3, perSecond: 0.001 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) harness.recorder.record(exhausted(name))
    await settled()
    expect(harness.cluster.objects('Event')).toHaveLength(3)
    await harness.stop()
    expect(harness.cluster.objects('Event')).toHaveLength(5)
    expect(harness.clock.waiting()).toEqual([])
  })
})
