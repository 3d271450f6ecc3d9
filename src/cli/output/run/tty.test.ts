import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Screen, screen } from '../../../../test/screen.ts'
import { finding } from '../../../errors/finding.ts'
import type { RunEvent, StageEvent } from '../../../run/events.ts'
import { nothingSelected } from '../../../run/findings.ts'
import { ttyPrinter } from './tty.ts'

/** A printer whose clock and frames are driven by the test. */
function startRun(terminal: Screen, clouds: readonly string[], colour = false) {
  let now = Date.parse('2026-01-01T00:00:00Z')
  let tick = (): void => undefined
  const printer = ttyPrinter(terminal, {
    colour,
    now: () => now,
    every: (_, frame) => {
      tick = frame
      return () => (tick = () => undefined)
    },
  })
  const send = (event: StageEvent): void =>
    printer.sink({ ...event, run: 'r1', time: new Date(now).toISOString() } as RunEvent)
  send({
    kind: 'run-started',
    what: 'up site.yaml',
    stages: [
      { id: 'nncp', stage: 'nncp', after: [] },
      ...clouds.flatMap((cloud) => [
        { id: `${cloud}/netattach`, stage: 'netattach', cloud, after: [] },
        { id: `${cloud}/control-plane`, stage: 'control-plane', cloud, after: [`${cloud}/netattach`] },
      ]),
    ],
  })
  return {
    send,
    close: printer.close,
    wait: (ms: number) => void (now += ms),
    pass: (ms: number) => {
      now += ms
      tick()
    },
  }
}

describe('the live tree', () => {
  it('shows clouds and stages with times, and the reason of a wait below its stage', () => {
    const terminal = screen(60)
    const { send, pass } = startRun(terminal, ['rhoso1'])
    send({ kind: 'stage-started', stage: 'nncp' })
    pass(1500)
    send({ kind: 'stage-finished', stage: 'nncp', outcome: 'done', ms: 1500 })
    send({ kind: 'stage-skipped', stage: 'netattach', cloud: 'rhoso1', reason: '9 objects are as planned' })
    send({ kind: 'stage-started', stage: 'control-plane', cloud: 'rhoso1' })
    send({
      kind: 'waiting',
      stage: 'control-plane',
      cloud: 'rhoso1',
      reason: 'Service keystone-internal:\n no address yet',
    })
    pass(65_000)
    expect(terminal.shown()).toEqual([
      'up site.yaml                                    2/3   1m06s',
      '✓ shared                                        1/1      1s',
      '  ✓ nncp                                                 1s',
      '● rhoso1                                        1/2   1m05s',
      '  ✓ netattach  9 objects are as planned',
      '  ● control-plane                                     1m05s',
      '      Service keystone-internal: no address yet',
    ])
  })

  it('prints findings above the tree, where they stay after the run', () => {
    const terminal = screen(100)
    const { send, pass } = startRun(terminal, ['rhoso1'])
    send({ kind: 'stage-started', stage: 'nncp' })
    send({ kind: 'finding', stage: 'nncp', finding: finding(nothingSelected, {}) })
    pass(100)
    expect(terminal.shown()[0]).toContain('SL4003')
    expect(terminal.shown()[2]).toMatch(/^up site\.yaml/)
    send({ kind: 'run-finished', outcome: 'failed', ms: 100 })
    expect(terminal.shown().join()).toContain('SL4003')
    expect(terminal.shown()).toHaveLength(2)
  })

  it('hides the cursor while it draws, and shows it again at the end and at exit', () => {
    for (const end of ['close', 'leave'] as const) {
      const terminal = screen()
      const { close } = startRun(terminal, ['rhoso1'])
      expect(terminal.cursorVisible()).toBe(false)
      if (end === 'close') close()
      else terminal.leave()
      expect(terminal.cursorVisible()).toBe(true)
      expect(terminal.shown()).toEqual([])
    }
  })

  it('writes nothing when nothing has changed, and little when only times change', () => {
    const terminal = screen()
    const { send, pass } = startRun(terminal, ['rhoso1', 'rhoso2', 'rhoso3'])
    send({ kind: 'stage-started', stage: 'nncp' })
    pass(1000)
    const before = terminal.written()
    pass(0)
    expect(terminal.written()).toBe(before)
    pass(1000)
    expect(terminal.written() - before).toBeLessThan(300)
  })

  it('keeps running stages visible when the screen is too small for all', () => {
    const terminal = screen(80, 8)
    const clouds = Array.from({ length: 30 }, (_, index) => `cloud${index}`)
    const { send, pass } = startRun(terminal, clouds)
    send({ kind: 'stage-started', stage: 'netattach', cloud: 'cloud17' })
    send({ kind: 'waiting', stage: 'netattach', cloud: 'cloud17', reason: 'the webhook does not answer' })
    pass(100)
    expect(terminal.shown()[1]).toMatch(/● cloud17 {2}netattach: the webhook does not answer/)
    expect(terminal.shown().at(-1)).toMatch(/… and 26 more/)
    expect(terminal.scrolledAway()).toEqual([])
  })

  it('leaves no stale lines when the window is resized', () => {
    const terminal = screen(100, 30)
    const { send, pass } = startRun(terminal, ['rhoso1', 'rhoso2'])
    send({ kind: 'stage-started', stage: 'nncp' })
    send({ kind: 'waiting', stage: 'nncp', reason: 'worker-1 has not reported yet '.repeat(5) })
    pass(100)
    for (const [columns, rows] of [
      [40, 30],
      [120, 30],
      [33, 40],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows)
      pass(100)
      expect(terminal.shown().filter((line) => line.startsWith('up site.yaml'))).toHaveLength(1)
      expect(terminal.scrolledAway()).toEqual([])
    }
  })

  it('shows the same after any events as a complete redraw', () => {
    const event = fc.record({
      cloud: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      stage: fc.constantFrom('netattach', 'control-plane'),
      kind: fc.constantFrom('stage-started', 'stage-skipped', 'waiting', 'stage-finished'),
      reason: fc.string({ maxLength: 120 }),
      outcome: fc.constantFrom('done', 'failed', 'blocked', 'stopped'),
      ms: fc.nat({ max: 100_000 }),
    })
    const size = fc.record({
      columns: fc.integer({ min: 20, max: 120 }),
      rows: fc.integer({ min: 3, max: 40 }),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), size, (events, { columns, rows }) => {
        const terminal = screen(columns, rows)
        const { send, pass } = startRun(terminal, ['a', 'b', 'c', 'd', 'e'], true)
        for (const event of events) {
          send(event as StageEvent)
          pass(100)
        }
        const repainted = screen(columns, rows)
        const again = startRun(repainted, ['a', 'b', 'c', 'd', 'e'], true)
        for (const event of events) {
          again.send(event as StageEvent)
          again.wait(100)
        }
        again.pass(0)
        expect(terminal.shown()).toEqual(repainted.shown())
        expect(terminal.scrolledAway()).toEqual([])
      }),
    )
  })
})
