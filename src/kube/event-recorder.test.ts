import { describe, expect, it } from 'vitest'
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

interface Stage {
  readonly cluster: MemoryCluster
  readonly clock: ManualClock
  readonly recorder: EventRecorder
  readonly stop: () => Promise<void>
}

function recording(settings: Partial<EventSettings> = {}): Stage {
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

const writes = ({ cluster }: Stage, verb: string): number =>
  cluster.requests.filter((request) => request.startsWith(`${verb} Event`)).length

describe('the event recorder', () => {
  it('writes controller, action, object and reason in the form of events.k8s.io/v1', async () => {
    const stage = recording()
    stage.recorder.record({ ...exhausted('a'), related: pool('b') })
    await settled()
    expect(stage.cluster.objects('Event')[0]).toMatchObject({
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
    expect(stage.cluster.objects('Event')[0]).not.toHaveProperty('series')
    await stage.stop()
  })

  it('combines repeated events into a series that is written at intervals', async () => {
    const stage = recording({ seriesIntervalMs: 10_000 })
    for (let second = 0; second < 60; second += 1) {
      stage.recorder.record(exhausted('a'))
      await stage.clock.settle(1_000)
    }
    await stage.clock.settle(10_000)
    const [event, ...others] = stage.cluster.objects('Event')
    expect(others).toEqual([])
    expect(event?.['series']).toEqual({ count: 60, lastObservedTime: '2026-11-15T10:00:59.000000Z' })
    expect([writes(stage, 'create'), writes(stage, 'patch')]).toEqual([1, 6])
    await stage.stop()
  })

  it('keeps different events apart, and starts a new series after the timeout', async () => {
    const stage = recording({ seriesTimeoutMs: 60_000 })
    stage.recorder.record(exhausted('a'))
    stage.recorder.record(exhausted('b'))
    stage.recorder.record(exhausted('a', 'another story'))
    await stage.clock.settle(61_000)
    stage.recorder.record(exhausted('a'))
    await settled()
    expect(stage.cluster.objects('Event')).toHaveLength(4)
    await stage.stop()
  })

  it('writes a burst before the first write as one event with its count', async () => {
    const stage = recording()
    for (let time = 0; time < 5; time += 1) stage.recorder.record(exhausted('a'))
    await settled()
    expect(stage.cluster.objects('Event')[0]?.['series']).toMatchObject({ count: 5 })
    expect(writes(stage, 'create')).toBe(1)
    await stage.stop()
  })

  it('writes at a bounded rate, however many events there are', async () => {
    const stage = recording({ burst: 10, perSecond: 2 })
    for (let at = 0; at < 500; at += 1) stage.recorder.record(exhausted(`p${at}`))
    for (let tenth = 0; tenth < 200; tenth += 1) await stage.clock.settle(100)
    expect(writes(stage, 'create')).toBeLessThanOrEqual(10 + 2 * 20)
    expect(writes(stage, 'create')).toBeGreaterThanOrEqual(2 * 20)
    await stage.stop()
  })

  it('drops the oldest when there are too many, and counts dropped events', async () => {
    const stage = recording({ maxSeries: 3, burst: 1, perSecond: 0.001 })
    for (let at = 0; at < 10; at += 1) stage.recorder.record(exhausted(`p${at}`))
    expect(stage.recorder.dropped()).toBe(7)
    await stage.stop()
  })

  it('retries while the cluster is unreachable, but not forever, and never blocks the caller', async () => {
    const stage = recording({ attempts: 4, retry: { initialMs: 100, maxMs: 1_000 } })
    stage.cluster.reachable(false)
    stage.recorder.record(exhausted('a'))
    await stage.clock.settle(250)
    stage.cluster.reachable(true)
    await stage.clock.settle(1_000)
    expect(stage.cluster.objects('Event')).toHaveLength(1)
    stage.cluster.reachable(false)
    stage.recorder.record(exhausted('b'))
    await stage.clock.settle(60_000)
    expect(writes(stage, 'create')).toBe(3 + 4)
    expect(stage.recorder.dropped()).toBe(1)
    await stage.stop()
  })

  it('creates the event again when the API server has deleted it', async () => {
    const stage = recording({ seriesIntervalMs: 1_000 })
    stage.recorder.record(exhausted('a'))
    await settled()
    const [event] = stage.cluster.objects('Event')
    if (event) await stage.cluster.client.delete({ ...event, ...event.metadata } as never)
    stage.recorder.record(exhausted('a'))
    await stage.clock.settle(1_000)
    expect(stage.cluster.objects('Event')[0]?.['series']).toMatchObject({ count: 2 })
    await stage.stop()
  })

  it('truncates a note to what the API accepts, between characters', async () => {
    const stage = recording()
    stage.recorder.record(exhausted('a', 'ü'.repeat(2_000)))
    await settled()
    const note = String(stage.cluster.objects('Event')[0]?.['note'])
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024)
    expect(note).toMatch(/^ü+…$/)
    await stage.stop()
  })

  it('writes remaining events at the stop, if that is quick', async () => {
    const stage = recording({ burst: 3, perSecond: 0.001 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) stage.recorder.record(exhausted(name))
    await settled()
    expect(stage.cluster.objects('Event')).toHaveLength(3)
    await stage.stop()
    expect(stage.cluster.objects('Event')).toHaveLength(5)
    expect(stage.clock.waiting()).toEqual([])
  })
})
