import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../run/events.ts'
import { nameCommand } from './leased-run.ts'

describe('the events of a run', () => {
  it('have its command line, and findings whose commands act on the same cluster', () => {
    const events: RunEvent[] = []
    const commandLine = ['up', '--cloud', 'a', '--kubeconfig', 'other']
    const sink = nameCommand((event) => events.push(event), { commandLine })
    const base = { time: '2026-01-01T00:00:00Z', run: 'r' }
    const remedy = 'look closer with `kubectl -n a get pods`'
    sink({ ...base, kind: 'run-started', what: 'up site.yaml', stages: [] })
    sink({ ...base, kind: 'finding', finding: { code: 'SL4001', severity: 'error', message: 'no pod', remedy } })
    sink({ ...base, kind: 'run-finished', outcome: 'failed', ms: 1 })
    expect(events).toMatchObject([
      { kind: 'run-started', command: commandLine },
      { kind: 'finding', finding: { remedy: 'look closer with `kubectl --kubeconfig other -n a get pods`' } },
      { kind: 'run-finished', outcome: 'failed' },
    ])
  })
})
