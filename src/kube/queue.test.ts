import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { type ManualClock, manualClock, settled } from '../../test/manual-clock.ts'
import { createFifo, createQueue, type WorkQueue } from './queue.ts'

const retry = { initialMs: 5, maxMs: 40 }

function queueAt(): { readonly queue: WorkQueue; readonly clock: ManualClock } {
  const clock = manualClock()
  return { clock, queue: createQueue({ clock, retry }) }
}

describe('the work queue', () => {
  it('returns keys in order of arrival, each once', async () => {
    const { queue } = queueAt()
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
    expect([await queue.next(), await queue.next(), await queue.next()]).toEqual(['a', 'b', 'c'])
    expect(queue.length()).toBe(0)
  })

  it('hands a key to a waiting worker', async () => {
    const { queue } = queueAt()
    const taken = queue.next()
    queue.add('a')
    expect(await taken).toBe('a')
    expect(queue.idle()).toBe(false)
    queue.done('a')
    expect(queue.idle()).toBe(true)
  })

  it('combines a burst of adds into one key, even when a worker already waits', async () => {
    const { queue } = queueAt()
    const taken = queue.next()
    for (const key of ['a', 'a', 'a']) queue.add(key)
    expect(await taken).toBe('a')
    queue.done('a')
    expect(queue.idle()).toBe(true)
  })

  it('returns a key that was added while it was processed again afterwards, never meanwhile', async () => {
    const { queue } = queueAt()
    queue.add('a')
    await queue.next()
    queue.add('a')
    queue.add('a')
    expect(queue.length()).toBe(0)
    queue.done('a')
    expect(queue.length()).toBe(1)
    expect(await queue.next()).toBe('a')
    queue.done('a')
    expect(queue.idle()).toBe(true)
  })

  it('keeps a busy key behind keys that were added before it came back', async () => {
    const { queue } = queueAt()
    queue.add('busy')
    await queue.next()
    queue.add('busy')
    queue.add('patient')
    queue.done('busy')
    expect([await queue.next(), await queue.next()]).toEqual(['patient', 'busy'])
  })

  it('returns a low-priority key when no other waits, and with normal priority once it is added normally', async () => {
    const { queue } = queueAt()
    for (const key of ['p', 'q', 'r']) queue.addLowPriority(key)
    queue.add('a')
    queue.addLowPriority('a')
    queue.add('r')
    expect(queue.length()).toBe(4)
    const taken = [await queue.next(), await queue.next(), await queue.next()]
    queue.add('late')
    taken.push(await queue.next(), await queue.next())
    expect(taken).toEqual(['a', 'r', 'p', 'late', 'q'])
    expect(queue.length()).toBe(0)
  })

  it('wakes a worker for a low-priority key, and counts it as work', async () => {
    const { queue } = queueAt()
    const taken = queue.next()
    queue.addLowPriority('p')
    expect(queue.idle()).toBe(false)
    expect(await taken).toBe('p')
  })

  it('returns a delayed key when it is due, and keeps the earliest of several delays', () => {
    const { queue, clock } = queueAt()
    queue.addAfter('a', 100)
    queue.addAfter('a', 50)
    queue.addAfter('a', 80)
    clock.advance(49)
    expect(queue.length()).toBe(0)
    clock.advance(1)
    expect(queue.length()).toBe(1)
    expect(clock.waiting()).toEqual([])
  })

  it('treats a delay of zero or less as no delay', () => {
    const { queue } = queueAt()
    for (const [key, ms] of Object.entries({ zero: 0, past: -5, nonsense: Number.NaN })) queue.addAfter(key, ms)
    expect(queue.length()).toBe(3)
  })

  it('doubles the delay of a failing key up to the maximum, until it is forgotten', () => {
    const { queue, clock } = queueAt()
    const delays = Array.from({ length: 5 }, () => {
      queue.addRateLimited('a')
      const [delay = 0] = clock.waiting()
      clock.advance(delay)
      return delay
    })
    expect(delays).toEqual([5, 10, 20, 40, 40])
    expect(queue.retries('a')).toBe(5)
    queue.forget('a')
    queue.addRateLimited('a')
    expect(clock.waiting()).toEqual([5])
  })

  it('ends every wait when it stops, and leaves no timer', async () => {
    const { queue, clock } = queueAt()
    const waiting = [queue.next(), queue.next()]
    queue.addAfter('later', 10)
    queue.stop()
    queue.add('too late')
    queue.addRateLimited('too late')
    expect(await Promise.all([...waiting, queue.next()])).toEqual([undefined, undefined, undefined])
    expect(clock.waiting()).toEqual([])
  })

  it('reports its depth and how long keys waited and were processed', async () => {
    const clock = manualClock()
    const reports: unknown[] = []
    const queue = createQueue({
      clock,
      observer: {
        added: (depth) => reports.push(['added', depth]),
        taken: (depth, ms) => reports.push(['taken', depth, ms]),
        finished: (ms) => reports.push(['finished', ms]),
        retried: () => reports.push(['retried']),
      },
    })
    queue.add('a')
    clock.advance(7)
    await queue.next()
    clock.advance(3)
    queue.addRateLimited('a')
    queue.done('a')
    expect(reports).toEqual([['added', 1], ['taken', 0, 7], ['retried'], ['finished', 3]])
  })

  it('drains in linear time', () => {
    const moves = (total: number): number => {
      const fifo = createFifo<number>()
      for (let item = 0; item < total; item += 1) fifo.push(item)
      let sum = 0
      for (let item = fifo.shift(); item !== undefined; item = fifo.shift()) sum += item
      return sum
    }
    // A million shifts of an array would take minutes: the test's time-out is the assertion.
    expect(moves(1_000_000)).toBe((1_000_000 * 999_999) / 2)
  })
})

/** The simplest possible queue: lists that are searched linearly. */
class Model {
  time = 0
  created = 0
  stopped = false
  ready: string[] = []
  lowPriority: string[] = []
  readonly again = new Set<string>()
  readonly working = new Set<string>()
  readonly failures = new Map<string, number>()
  delayed: { key: string; at: number; order: number }[] = []

  add(key: string): void {
    if (this.stopped || this.ready.includes(key)) return
    this.lowPriority = this.lowPriority.filter((entry) => entry !== key)
    if (this.working.has(key)) this.again.add(key)
    else this.ready.push(key)
  }
  addPatient(key: string): void {
    if (this.working.has(key)) return this.add(key)
    if (!this.stopped && !this.ready.includes(key) && !this.lowPriority.includes(key)) this.lowPriority.push(key)
  }
  addAfter(key: string, ms: number): void {
    if (this.stopped) return
    if (ms <= 0) return this.add(key)
    const at = this.time + ms
    if (this.delayed.some((entry) => entry.key === key && entry.at <= at)) return
    this.created += 1
    this.delayed = [...this.delayed.filter((entry) => entry.key !== key), { key, at, order: this.created }]
  }
  addRateLimited(key: string): void {
    if (this.stopped) return
    const before = this.failures.get(key) ?? 0
    this.failures.set(key, before + 1)
    this.addAfter(key, Math.min(retry.maxMs, retry.initialMs * 2 ** before))
  }
  advance(ms: number): void {
    this.time += ms
    const due = this.delayed.filter((entry) => entry.at <= this.time)
    this.delayed = this.delayed.filter((entry) => entry.at > this.time)
    for (const { key } of due.sort((a, b) => a.at - b.at || a.order - b.order)) this.add(key)
  }
  next(): string | undefined {
    const key = this.ready.shift() ?? this.lowPriority.shift()
    if (key !== undefined) this.working.add(key)
    return key
  }
  done(key: string): void {
    this.working.delete(key)
    if (this.again.delete(key)) this.ready.push(key)
  }
}

type Step =
  | { readonly kind: 'add' | 'patient' | 'limit' | 'done' | 'forget'; readonly key: string }
  | { readonly kind: 'after'; readonly key: string; readonly ms: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'next' }

const keys = fc.constantFrom('a', 'b', 'c', 'd')
const delays = fc.integer({ min: 0, max: 60 })
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('add', 'patient', 'limit', 'done', 'forget'), key: keys }),
  fc.record({ kind: fc.constant('after'), key: keys, ms: delays }),
  fc.record({ kind: fc.constant('advance'), ms: delays }),
  fc.constant({ kind: 'next' }),
)

describe('the work queue, compared with a model', () => {
  it('returns the same keys in the same order (property)', async () => {
    const run = async (sequence: readonly Step[]): Promise<void> => {
      const { queue, clock } = queueAt()
      const model = new Model()
      for (const step of sequence) await take(step, queue, clock, model)
      expect(queue.length()).toBe(model.ready.length + model.lowPriority.length)
      for (const key of model.working) {
        queue.done(key)
        model.done(key)
      }
      for (let key = model.next(); key !== undefined; key = model.next()) expect(await queue.next()).toBe(key)
      expect(queue.length()).toBe(0)
    }
    const property = fc.asyncProperty(fc.array(steps, { maxLength: 80 }), run)
    await fc.assert(property, { numRuns: count({ test: 500, soak: 20_000 }) })
  })

  it('never gives a key to two workers and loses no add, with overlapping workers (property)', async () => {
    const run = async (added: readonly string[], workers: number): Promise<void> => {
      const { queue, clock } = queueAt()
      const busy = new Set<string>()
      const processedAt = new Map<string, number>()
      let moment = 0
      const work = async (): Promise<void> => {
        for (let key = await queue.next(); key !== undefined; key = await queue.next()) {
          expect(busy.has(key)).toBe(false)
          busy.add(key)
          processedAt.set(key, moment)
          await clock.sleep(3)
          busy.delete(key)
          queue.done(key)
        }
      }
      const all = Array.from({ length: workers }, work)
      const addedAt = new Map<string, number>()
      for (const key of added) {
        moment += 1
        addedAt.set(key, moment)
        queue.add(key)
        await clock.settle(1)
      }
      while (!queue.idle()) await clock.settle(1)
      for (const [key, at] of addedAt) expect(processedAt.get(key)).toBeGreaterThanOrEqual(at)
      queue.stop()
      await Promise.all(all)
    }
    const property = fc.asyncProperty(fc.array(keys, { maxLength: 25 }), fc.integer({ min: 1, max: 4 }), run)
    await fc.assert(property, { numRuns: count({ test: 40, soak: 2_000 }) })
  })
})

async function take(step: Step, queue: WorkQueue, clock: ManualClock, model: Model): Promise<void> {
  switch (step.kind) {
    case 'add':
      queue.add(step.key)
      return model.add(step.key)
    case 'patient':
      queue.addLowPriority(step.key)
      return model.addPatient(step.key)
    case 'limit':
      queue.addRateLimited(step.key)
      return model.addRateLimited(step.key)
    case 'forget':
      queue.forget(step.key)
      model.failures.delete(step.key)
      return
    case 'after':
      queue.addAfter(step.key, step.ms)
      return model.addAfter(step.key, step.ms)
    case 'advance':
      clock.advance(step.ms)
      return model.advance(step.ms)
    case 'done':
      if (!model.working.has(step.key)) return
      queue.done(step.key)
      return model.done(step.key)
    case 'next': {
      // With nothing ready a worker would wait and take the next key at once, which the model does not do.
      const expected = model.next()
      if (expected !== undefined) expect(await queue.next()).toBe(expected)
      return settled()
    }
  }
}
