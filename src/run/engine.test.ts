import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../clock/clock.ts'
import { Failure, failure } from '../errors/failure.ts'
import { type RunReport, runStages } from './engine.ts'
import type { RunEvent } from './events.ts'
import { stageCycle } from './findings.ts'
import { withPredecessors } from './graph.ts'
import { keyOfStage } from './run-view.ts'
import { type Stage, type StageContext, stageId } from './stage.ts'

/** Time that passes by itself: every sleep is a turn of the event loop, in the order of its length. */
function quickClock(): Clock {
  let now = 0
  return {
    ...systemClock,
    now: () => now,
    elapsed: () => now,
    sleep: async (ms, signal) => {
      const until = now + ms
      while (now < until && !signal?.aborted) {
        await new Promise(setImmediate)
        now += 1
      }
    },
  }
}

interface Wish {
  readonly name: string
  readonly after?: readonly string[]
  readonly locks?: readonly string[]
  readonly satisfied?: boolean
  readonly work?: (context: StageContext) => Promise<void>
}

function stageOf({ name, after = [], locks = [], satisfied, work }: Wish): Stage {
  return {
    id: stageId(name),
    name,
    after: after.map((id) => ({ id, why: 'it must' })),
    locks,
    ...(satisfied && { check: async () => ({ kind: 'satisfied', reason: 'it is all there' }) }),
    work: work ?? (({ clock }) => clock.sleep(1)),
  }
}

async function run(wishes: readonly Wish[], stop = new AbortController(), parallel = 16) {
  const events: RunEvent[] = []
  const report = await runStages({
    run: 'r1',
    what: 'test',
    stages: wishes.map(stageOf),
    sink: (event) => events.push(event),
    clock: quickClock(),
    stop: stop.signal,
    parallel,
  })
  return { events, report }
}

const outcomes = (report: RunReport) => Object.fromEntries(report.stages.map(({ id, outcome }) => [id, outcome]))
const broken = (): Promise<void> => Promise.reject(failure(stageCycle, { path: ['x'] }))

describe('runStages', () => {
  it('announces the graph, runs it in order and finishes with one event', async () => {
    const { events, report } = await run([{ name: 'b', after: ['a'] }, { name: 'a' }])
    expect(events.map(({ kind, stage }) => `${kind} ${stage ?? ''}`.trim())).toEqual([
      'run-started',
      'stage-started a',
      'stage-finished a',
      'stage-started b',
      'stage-finished b',
      'run-finished',
    ])
    expect(report.outcome).toBe('done')
  })

  it('skips satisfied stages, with the reason', async () => {
    const { events, report } = await run([{ name: 'a', satisfied: true, work: broken }])
    expect(report).toMatchObject({ outcome: 'done', stages: [{ outcome: 'skipped' }] })
    expect(events[1]).toMatchObject({ kind: 'stage-skipped', stage: 'a', reason: 'it is all there' })
  })

  it('blocks only the dependents of a failed stage', async () => {
    const { report } = await run([
      { name: 'bad', work: broken },
      { name: 'child', after: ['bad'] },
      { name: 'grandchild', after: ['child'] },
      { name: 'other' },
    ])
    expect(report.outcome).toBe('failed')
    expect(outcomes(report)).toEqual({
      bad: 'failed',
      child: 'blocked',
      grandchild: 'blocked',
      other: 'done',
    })
    expect(report.stages[2]?.reason).toBe('needs child, which is blocked by bad (it must)')
  })

  it('turns a failure into findings, and an unexpected error into an internal error', async () => {
    const { events } = await run([
      { name: 'known', work: broken },
      { name: 'surprise', work: () => Promise.reject(new TypeError('x is undefined')) },
    ])
    const codes = events.flatMap((event) => (event.kind === 'finding' ? [event.finding.code] : []))
    expect(codes).toEqual(['SL4004', 'SL1000'])
  })

  it('names the holder of the lock that a stage waits for', async () => {
    const { events } = await run([
      { name: 'one', locks: ['node-networking'] },
      { name: 'two', locks: ['node-networking'] },
    ])
    expect(events.find(({ kind }) => kind === 'waiting')).toMatchObject({
      stage: 'two',
      reason: 'after one: node-networking is for one stage at a time',
    })
  })

  it('lets running stages finish at a stop, and starts no new one', async () => {
    const stop = new AbortController()
    let written = 0
    const write = async ({ clock, stop: signal }: StageContext) => {
      for (let object = 0; object < 5; object += 1) {
        signal.throwIfAborted()
        await clock.sleep(1)
        written += 1
        if (written === 2) stop.abort()
      }
    }
    const { report, events } = await run(
      [
        { name: 'a', work: write },
        { name: 'b', after: ['a'] },
      ],
      stop,
    )
    expect(written).toBe(2)
    expect(report.outcome).toBe('stopped')
    expect(outcomes(report)).toEqual({ a: 'stopped', b: 'stopped' })
    expect(events.at(-1)).toMatchObject({ kind: 'run-finished', outcome: 'stopped' })
  })

  it('is done when the stop came too late to stop anything', async () => {
    const stop = new AbortController()
    const { report } = await run([{ name: 'a', work: async () => stop.abort() }], stop)
    expect(report.outcome).toBe('done')
  })

  it('drops events that a stage emits after its end', async () => {
    let late: (() => void) | undefined
    const { events } = await run([
      {
        name: 'a',
        work: async ({ emit }) => {
          late = () => emit({ kind: 'progress', message: 'too late' })
        },
      },
      { name: 'b', after: ['a'], work: async () => late?.() },
    ])
    expect(events.some(({ kind }) => kind === 'progress')).toBe(false)
  })

  it('rejects an invalid graph before it emits anything', async () => {
    await expect(run([{ name: 'a', after: ['a'] }])).rejects.toThrow(Failure)
  })
})

interface Step {
  readonly after: readonly number[]
  readonly lock: number
  readonly ms: number
  readonly fate: 'done' | 'fails' | 'satisfied'
}

const graph = fc
  .array(
    fc.record({
      after: fc.array(fc.nat(), { maxLength: 3 }),
      lock: fc.nat({ max: 4 }),
      ms: fc.nat({ max: 4 }),
      fate: fc.constantFrom('done', 'done', 'done', 'fails', 'satisfied'),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((steps): readonly Wish[] => (steps as readonly Step[]).map(wishOf))

/** Edges point backwards, so every drawn graph is one without circles. */
function wishOf(step: Step, at: number): Wish {
  const before = at === 0 ? [] : step.after.map((one) => `s${one % at}`)
  return {
    name: `s${at}`,
    after: [...new Set(before)],
    locks: step.lock < 2 ? [`lock-${step.lock}`] : [],
    satisfied: step.fate === 'satisfied',
    work: async ({ clock, stop }) => {
      for (let ms = 0; ms <= step.ms; ms += 1) {
        stop.throwIfAborted()
        await clock.sleep(1)
      }
      if (step.fate === 'fails') await broken()
    },
  }
}

/** Replays the stream and checks the laws that hold in every run. */
function obeysTheLaws(events: readonly RunEvent[], stages: readonly Stage[], parallel: number): void {
  const running = new Set<string>()
  const over = new Map<string, string>()
  expect(events[0]?.kind).toBe('run-started')
  expect(events.at(-1)?.kind).toBe('run-finished')
  expect(events.filter(({ kind }) => kind === 'run-finished')).toHaveLength(1)
  for (const event of events) {
    const id = keyOfStage(event)
    const stage = stages.find((stage) => stage.id === id)
    if (event.kind === 'stage-started' && stage) {
      for (const before of stage.after) expect(over.get(before.id)).toBe('done')
      for (const other of running) {
        const locks = stages.find((stage) => stage.id === other)?.locks ?? []
        expect(locks.filter((lock) => stage.locks.includes(lock))).toEqual([])
      }
      running.add(id)
      expect(running.size).toBeLessThanOrEqual(parallel)
    }
    if (event.kind === 'stage-skipped') over.set(id, over.has(id) ? 'twice' : 'done')
    if (event.kind === 'stage-finished') {
      expect(over.has(id)).toBe(false)
      running.delete(id)
      over.set(id, event.outcome)
    }
  }
  expect([...over.keys()].sort()).toEqual(stages.map(({ id }) => id).sort())
}

describe('every run', () => {
  it('respects order, locks and the limit, and finishes exactly once (property)', async () => {
    await fc.assert(
      fc.asyncProperty(graph, fc.integer({ min: 1, max: 5 }), async (wishes, parallel) => {
        const { events } = await run(wishes, new AbortController(), parallel)
        obeysTheLaws(events, wishes.map(stageOf), parallel)
      }),
    )
  })

  it('blocks a stage if and only if a dependency failed, and names that one (property)', async () => {
    await fc.assert(
      fc.asyncProperty(graph, async (wishes) => {
        const { report } = await run(wishes)
        const stages = wishes.map(stageOf)
        const failed = new Set(report.stages.filter((stage) => stage.outcome === 'failed').map(({ id }) => id))
        for (const { id, outcome, reason } of report.stages) {
          const culprits = [...withPredecessors([id], stages)].filter(
            (withPredecessor) => withPredecessor !== id && failed.has(withPredecessor),
          )
          expect(outcome === 'blocked').toBe(culprits.length > 0)
          if (outcome === 'blocked') expect(culprits.some((culprit) => reason?.includes(culprit))).toBe(true)
        }
      }),
    )
  })

  it('ends correctly wherever it is stopped, and the rest can run later (property)', async () => {
    await fc.assert(
      fc.asyncProperty(graph, fc.nat({ max: 60 }), async (wishes, at) => {
        const stop = new AbortController()
        const healthy = wishes.map(({ name, after = [], locks = [] }) => ({ name, after, locks }))
        const events: RunEvent[] = []
        const stages = healthy.map(stageOf)
        const settings = { run: 'r1', what: 'test', clock: quickClock(), parallel: 3 }
        const first = await runStages({
          ...settings,
          stages,
          stop: stop.signal,
          sink: (event) => {
            events.push(event)
            if (events.length === at) stop.abort()
          },
        })
        obeysTheLaws(events, stages, 3)
        const done = new Set(first.stages.filter((stage) => stage.outcome === 'done').map(({ id }) => id))
        const again = await runStages({
          ...settings,
          stages: stages.map((stage) => ({
            ...stage,
            check: async () => (done.has(stage.id) ? { kind: 'satisfied', reason: 'done before' } : { kind: 'needed' }),
          })),
          stop: new AbortController().signal,
          sink: () => undefined,
        })
        expect(again.outcome).toBe('done')
      }),
    )
  })
})
