import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ansibleRun, counted, ended } from '../../../test/data-plane.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import type { Applied } from '../kinds/data-plane.ts'
import { type Attempt, findAttempts, type Outcome, previousRun, provingRuns, resolveApplied } from './attempts.ts'
import { decideStep, defaultRunRetry, type RunDecision, type StepInputs } from './decide-step.ts'
import { prunableRuns } from './run-index.ts'

const noon = Date.parse('2026-01-01T12:00:00Z')
const question: StepInputs = {
  desiredHash: 'new',
  applied: undefined,
  attempts: [],
  heldReason: undefined,
  policy: 'auto',
  request: undefined,
  blockedBy: undefined,
  activeRun: undefined,
  retry: defaultRunRetry,
  now: noon,
}
const ask = (more: Partial<StepInputs>): RunDecision => decideStep({ ...question, ...more })
const attempt = (number: number, outcome: Outcome, hash = 'new', agoMs = 0): Attempt => ({
  run: `run-${hash}-${number}`,
  number,
  hash,
  outcome,
  isHarmless: false,
  finishedAt: new Date(noon - agoMs).toISOString(),
})
const old = { hash: 'old', run: 'r', request: 'monday' }

describe('decideStep', () => {
  it('starts a step that was never done, or done with other inputs', () => {
    expect(ask({})).toEqual({ kind: 'start', attempt: 1, why: 'first run' })
    expect(ask({ applied: old })).toEqual({ kind: 'start', attempt: 1, why: 'its inputs changed' })
  })

  it('is done with the same inputs, whatever else changes', () => {
    expect(ask({ applied: { hash: 'new', run: 'r' } })).toEqual({ kind: 'done' })
    expect(ask({ applied: { hash: 'new', run: 'r' }, heldReason: 'deploy is false', blockedBy: 'x' })).toEqual({
      kind: 'done',
    })
  })

  describe('after a run with other inputs that failed', () => {
    const overwritten = { hash: 'new', run: 'run-new-1', at: new Date(noon - 9e6).toISOString(), overwrittenBy: 'r-2' }

    it('applies the former inputs again', () => {
      const attempts = [attempt(1, 'succeeded', 'new', 9e6), attempt(1, 'failed', 'old', 8e6)]
      expect(ask({ applied: overwritten, attempts })).toEqual({
        kind: 'start',
        attempt: 2,
        why: 'r-2 failed after it',
      })
    })

    it('counts only failures since the last success, and stops after the last attempt', () => {
      const before = [1, 2, 3, 4, 5, 6].map((number) => attempt(number, 'failed', 'new', 9e9))
      expect(ask({ applied: overwritten, attempts: before })).toMatchObject({ kind: 'start', attempt: 7 })
      const after = [7, 8, 9, 10, 11, 12].map((number) => attempt(number, 'failed', 'new', 8e6))
      expect(ask({ applied: overwritten, attempts: [...before, ...after] })).toMatchObject({
        kind: 'backed-off',
        tried: 6,
      })
    })

    it('is out of date where it is not requested', () => {
      expect(ask({ applied: overwritten, heldReason: 'deploy is false' }).kind).toBe('out-of-date')
      expect(ask({ applied: overwritten, policy: 'manual' }).kind).toBe('out-of-date')
    })
  })

  it('waits for a running attempt, whatever its inputs', () => {
    expect(ask({ attempts: [attempt(1, 'running', 'old')] })).toEqual({ kind: 'running', run: 'run-old-1' })
  })

  it('says why a running attempt makes no progress', () => {
    const stalled = { ...attempt(1, 'running', 'old'), why: 'its node does not answer' }
    expect(ask({ attempts: [stalled] })).toMatchObject({ kind: 'running', why: 'its node does not answer' })
  })

  it('holds a step that is not requested: never done, or out of date', () => {
    const heldReason = 'it is outside of ansibleLimit a'
    expect(ask({ heldReason: heldReason })).toEqual({ kind: 'held', why: heldReason })
    expect(ask({ heldReason: heldReason, applied: old })).toEqual({ kind: 'out-of-date', why: heldReason })
  })

  it('runs the first deployment with the policy manual, and waits for a request after later changes', () => {
    expect(ask({ policy: 'manual' }).kind).toBe('start')
    expect(ask({ policy: 'manual', applied: old }).kind).toBe('out-of-date')
    expect(ask({ policy: 'manual', applied: old, request: 'monday' }).kind).toBe('out-of-date')
    expect(ask({ policy: 'manual', applied: old, request: 'tuesday' }).kind).toBe('start')
  })

  it('names what has to happen first, and the active run', () => {
    expect(ask({ blockedBy: 'Waiting for NovaCell nova-cell1' })).toEqual({
      kind: 'wait',
      why: 'Waiting for NovaCell nova-cell1',
    })
    expect(ask({ activeRun: 'install-os-1' })).toEqual({ kind: 'wait', why: 'install-os-1 runs on this host' })
  })

  it('retries with growing pauses and the next number, and stops after the last attempt', () => {
    expect(ask({ attempts: [attempt(1, 'failed', 'new', 4_000)] })).toMatchObject({
      kind: 'pause',
      ms: 6_000,
      tried: 1,
    })
    const two = [attempt(1, 'failed', 'new', 60_000), attempt(2, 'failed', 'new', 15_000)]
    expect(ask({ attempts: two })).toMatchObject({ kind: 'pause', ms: 5_000, tried: 2 })
    expect(ask({ attempts: two, now: noon + 5_000 })).toMatchObject({ kind: 'start', attempt: 3 })
    const six = [1, 2, 3, 4, 5, 6].map((number) => attempt(number, 'failed', 'new', 9e9))
    expect(ask({ attempts: six })).toMatchObject({ kind: 'backed-off', tried: 6 })
  })

  it('starts again when the inputs change after the last attempt', () => {
    const six = [1, 2, 3, 4, 5, 6].map((number) => attempt(number, 'failed', 'old'))
    expect(ask({ attempts: six })).toEqual({ kind: 'start', attempt: 1, why: 'first run' })
  })

  it('never starts beside a running attempt, after a success of the same inputs, or with a used number (property)', () => {
    const outcome = fc.constantFrom<Outcome>('running', 'failed')
    const attempts = fc.uniqueArray(
      fc.record({ number: fc.integer({ min: 1, max: 9 }), outcome, hash: fc.constantFrom('new', 'old') }),
      { selector: ({ hash, number }) => `${hash} ${number}` },
    )
    const applied = fc.constantFrom(undefined, old, { hash: 'new', run: 'r' }, { ...old, overwrittenBy: 's' })
    const rest = fc.record({
      heldReason: fc.constantFrom(undefined, 'deploy is false'),
      policy: fc.constantFrom('auto' as const, 'manual' as const),
      request: fc.constantFrom(undefined, 'monday', 'tuesday'),
      blockedBy: fc.constantFrom(undefined, 'a gate'),
      activeRun: fc.constantFrom(undefined, 'a run'),
    })
    fc.assert(
      fc.property(attempts, applied, rest, (tried, done, more) => {
        const all = tried.map(({ number, outcome, hash }) => attempt(number, outcome, hash, 9e9))
        const decision = ask({ attempts: all, applied: done, ...more })
        if (decision.kind !== 'start') return
        expect(all.some((attempt) => attempt.outcome === 'running')).toBe(false)
        expect(done?.hash).not.toBe('new')
        expect(all.some(({ hash, number }) => hash === 'new' && number === decision.attempt)).toBe(false)
        expect([more.heldReason, more.blockedBy, more.activeRun]).toEqual([undefined, undefined, undefined])
      }),
    )
  })
})

/** What happens to a run: `cancelled` is one that a person deletes while it works. */
type Ending = 'succeeds' | 'fails' | 'never starts' | 'never reaches the host' | 'cancelled'

const unreached = { ok: 0, changed: 0, failures: 0, unreachable: 1 }
const endings: Readonly<Record<Exclude<Ending, 'cancelled'>, Parameters<typeof ended>>> = {
  succeeds: ['Completed', { hosts: { a: counted } }],
  fails: ['Failed', { hosts: { a: { ...counted, failures: 1 } } }],
  'never starts': ['NotStarted'],
  'never reaches the host': ['Unreachable', { hosts: { a: unreached } }],
}

/** A host, its runs and the status of its node, driven as the controllers do. */
function simulateHost() {
  let recorded: Readonly<Record<string, Applied>> = {}
  let runs: readonly AnsibleRun[] = []
  let now = noon
  let content = 'nothing'
  const record = (isLost: boolean): Readonly<Record<string, Applied>> => {
    const applied = resolveApplied(recorded, ['nova'], 'a', runs)
    if (isLost) return applied
    recorded = applied
    const gone = prunableRuns(runs, new Set(provingRuns(recorded)), 3)
    runs = runs.filter((run) => !gone.includes(run))
    return applied
  }
  const run = (hash: string, after: string, attempt: number, ending: Ending, isLost: boolean): void => {
    const name = `${hash}-after-${after}-${attempt}`
    expect(runs.map(({ metadata }) => metadata.name)).not.toContain(name)
    const facts = { step: 'nova', hosts: { a: hash }, attempt }
    const others = runs
    runs = [...others, ansibleRun(name, { ...facts, status: { JobStatus: 'Running', tries: 1 } })]
    record(isLost && ending !== 'cancelled')
    if (ending === 'succeeds') content = hash
    if (ending === 'fails' || ending === 'cancelled') content = `part of ${hash}`
    now += 1_000
    if (ending === 'cancelled') runs = runs.filter(({ metadata }) => metadata.name !== name)
    else {
      const [reason, result] = endings[ending]
      const status = ended(reason, { ...result, finishedAt: new Date(now).toISOString() })
      runs = runs.map((known) => (known.metadata.name === name ? ansibleRun(name, { ...facts, status }) : known))
    }
  }
  return {
    /** One reconcile that wants these inputs. A lost status was not written. */
    reconcile: (hash: string, ending: Ending, isLost: boolean): RunDecision => {
      const applied = record(isLost)
      const attempts = findAttempts(runs, 'a', 'nova')
      const decision = ask({ desiredHash: hash, applied: applied['nova'], attempts, now })
      if (decision.kind === 'done') expect(content).toBe(hash)
      if (decision.kind === 'pause') now += decision.ms
      if (decision.kind === 'start') run(hash, previousRun(applied['nova']) ?? '', decision.attempt, ending, isLost)
      return decision
    },
  }
}

describe('a host', () => {
  const hash = fc.constantFrom('a', 'b', 'c')
  const ending = fc.constantFrom<Ending>('succeeds', 'fails', 'never starts', 'never reaches the host', 'cancelled')
  const history = fc.array(fc.tuple(hash, ending, fc.boolean()), { maxLength: 40 })

  it('has the wanted inputs whenever its step counts as done, and gets them by one run that succeeds (property)', () => {
    fc.assert(
      fc.property(history, (changes) => {
        const host = simulateHost()
        for (const change of changes) host.reconcile(...change)
        const decisions = Array.from({ length: 4 }, () => host.reconcile('d', 'succeeds', false).kind)
        expect(decisions).toEqual(['start', 'done', 'done', 'done'])
      }),
    )
  })

  it('is tried as often as allowed and no more, whatever happened before (property)', () => {
    const lasting = fc.constantFrom<Ending>('fails', 'never starts', 'never reaches the host')
    fc.assert(
      fc.property(history, hash, lasting, (changes, wanted, always) => {
        const host = simulateHost()
        for (const change of changes) host.reconcile(...change)
        const decisions = Array.from({ length: 40 }, () => host.reconcile(wanted, always, false).kind)
        expect(decisions.filter((kind) => kind === 'start').length).toBeLessThanOrEqual(defaultRunRetry.attempts)
        expect(['done', 'backed-off']).toContain(decisions.at(-1))
      }),
    )
  })
})
