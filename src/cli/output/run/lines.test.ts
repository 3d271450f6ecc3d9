import { describe, expect, it } from 'vitest'
import { finding } from '../../../errors/finding.ts'
import type { RunEvent, StageEvent } from '../../../run/events.ts'
import { nothingSelected } from '../../../run/findings.ts'
import { formatDuration, oneLine, truncate } from '../text.ts'
import { linesPrinter } from './lines.ts'
import { jsonlPrinter, type Printer } from './printer.ts'
import { formatSummary } from './summary.ts'

function collect(make: (write: (text: string) => void) => Printer) {
  let text = ''
  const { sink } = make((more) => void (text += more))
  let now = Date.parse('2026-01-01T10:00:00Z')
  return {
    send: (event: StageEvent, afterMs = 0) => {
      now += afterMs
      sink({ ...event, run: 'r1', time: new Date(now).toISOString() } as RunEvent)
    },
    lines: () => text.split('\n').slice(0, -1),
  }
}

const waiting = (reason: string): StageEvent => ({ kind: 'waiting', cloud: 'rhoso1', stage: 'nncp', reason })

describe('the lines printer', () => {
  it('prints one line per event', () => {
    const { send, lines } = collect((write) => linesPrinter(write, { colour: false }))
    send({ kind: 'run-started', what: 'up site.yaml', stages: [] })
    send({ kind: 'stage-started', stage: 'nncp' }, 1000)
    const object = { kind: 'Namespace', name: 'openstack' }
    send({ kind: 'applied', change: 'created', cloud: 'rhoso1', stage: 'namespace', object })
    send({ kind: 'applied', change: 'unchanged', cloud: 'rhoso1', stage: 'namespace', object })
    send({ kind: 'finding', stage: 'nncp', finding: finding(nothingSelected, {}) })
    send({
      kind: 'stage-finished',
      stage: 'nncp',
      outcome: 'failed',
      ms: 61_000,
      reason: 'worker-1:\nno link',
    })
    send({ kind: 'run-finished', outcome: 'failed', ms: 62_000 })
    expect(lines()).toEqual([
      '10:00:00 up site.yaml: 0 stages',
      '10:00:01 nncp: started',
      '10:00:01 rhoso1/namespace: created Namespace openstack',
      '10:00:01 nncp: error SL4003: no stage is left to run: the options exclude each other',
      '    fix: drop one of the options that choose stages: --from-stage, --until, --skip, --stage, --cloud',
      '10:00:01 nncp: failed after 1m01s: worker-1: no link',
      '10:00:01 failed after 1m02s',
    ])
  })

  it('neither repeats a reason within a minute nor prints every change of a reason', () => {
    const { send, lines } = collect((write) => linesPrinter(write, { colour: false }))
    send(waiting('a'))
    send(waiting('a'), 10_000)
    send(waiting('b'), 1_000)
    send(waiting('c'), 1_000)
    send(waiting('c'), 6_000)
    send(waiting('c'), 60_000)
    expect(lines().map((line) => line.slice(9))).toEqual([
      'rhoso1/nncp: waiting: a',
      'rhoso1/nncp: waiting: b',
      'rhoso1/nncp: waiting: c',
      'rhoso1/nncp: waiting: c',
    ])
  })
})

describe('the JSON lines printer', () => {
  it('prints each event unchanged on its own line', () => {
    const { send, lines } = collect(jsonlPrinter)
    send(waiting('a\nb'))
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      {
        kind: 'waiting',
        cloud: 'rhoso1',
        stage: 'nncp',
        reason: 'a\nb',
        run: 'r1',
        time: '2026-01-01T10:00:00.000Z',
      },
    ])
  })
})

describe('the summary', () => {
  it('shows the outcome of each stage and the totals without zeros', () => {
    const base = { findings: [], ms: 0 }
    const text = formatSummary(
      {
        outcome: 'failed',
        ms: 90_000,
        stages: [
          { id: 'nncp', name: 'nncp', outcome: 'skipped', reason: '3 objects are as planned', ...base },
          { id: 'rhoso1/netattach', name: 'netattach', cloud: 'rhoso1', outcome: 'done', ...base, ms: 1200 },
          { id: 'rhoso2/netattach', name: 'netattach', cloud: 'rhoso2', outcome: 'failed', ...base, ms: 90 },
        ],
      },
      { columns: 80, colour: false },
    )
    expect(text).toContain('rhoso1  netattach  done     1s')
    expect(text.trimEnd().split('\n').at(-1)).toBe('failed after 1m30s: 1 done, 1 skipped, 1 failed')
  })
})

describe('text', () => {
  it('formats durations with at most two units', () => {
    expect([0, 420, 12_300, 184_000, 3_725_000].map(formatDuration)).toEqual(['0.0s', '0.4s', '12s', '3m04s', '1h02m'])
  })

  it('removes line ends and escape codes, and truncates long lines', () => {
    expect(oneLine('a\r\n\u001b[31mb\u001b[0m\tc\u0007')).toBe('a b c')
    expect(truncate('abcdef', 4)).toBe('abc…')
  })
})
