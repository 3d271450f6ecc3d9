import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AnsibleRun,
  type AnsibleRunStatus,
  HOSTS_ANNOTATION,
  INPUT_HASH_ANNOTATION,
} from '../kinds/ansible-run.ts'
import { type AttemptDecision, type AttemptInputs, decideAttempt, defaultRunSettings } from './decide-attempt.ts'

const settings = { ...defaultRunSettings, retryFirstMs: 10_000, retryMaxMs: 30_000 }
const NOW = Date.parse('2026-01-01T00:00:00Z')

function run(name: string, status?: AnsibleRunStatus, more: Partial<AnsibleRun['metadata']> = {}): AnsibleRun {
  return {
    apiVersion: 'ansibleee.openstack.org/v1alpha1',
    kind: 'OpenStackAnsibleEE',
    metadata: { name, namespace: 'openstack', ...more },
    spec: { play: '[]', backoffLimit: 2 },
    ...(status && { status }),
  }
}

function ask(one: AnsibleRun, more: Partial<AttemptInputs> = {}): AttemptDecision {
  return decideAttempt({
    run: one,
    hasFinalizer: false,
    others: [],
    addresses: ['a'],
    nowMs: NOW,
    settings,
    ...more,
  })
}

const working = (...hosts: readonly string[]): AnsibleRunStatus => ({
  JobStatus: 'Running',
  tries: 1,
  running: { startedAt: '2026-01-01T00:00:00Z', hosts: [...hosts] },
})

describe('A run', () => {
  it('that another operator claimed is not called Unknown before that operator could start it', () => {
    const state = { executorState: { kind: 'absent' }, settings: { ...settings, startGraceMs: 60_000 } } as const
    const claimed = run('x', working('a'))
    expect(ask(claimed, { ...state, nowMs: NOW + 59_999 })).toEqual({ kind: 'progress', task: undefined })
    expect(ask(claimed, { ...state, nowMs: NOW + 60_000 })).toMatchObject({
      kind: 'record',
      end: { reason: 'Unknown' },
    })
  })

  it('starts when no other run is active on its hosts', () => {
    expect(ask(run('x'))).toEqual({ kind: 'begin', attempt: 1 })
    expect(ask(run('x'), { others: [run('y', working('b'))] })).toEqual({ kind: 'begin', attempt: 1 })
  })

  it('waits for another run on one of its hosts, and names it', () => {
    const decision = ask(run('x'), { addresses: ['a', 'b'], others: [run('y', working('b', 'c'))] })
    expect(decision).toEqual({ kind: 'wait', why: 'y works on the same hosts' })
  })

  it('waits for every active run when its hosts or theirs are unknown', () => {
    expect(ask(run('x'), { addresses: undefined, others: [run('y', working('b'))] }).kind).toBe('wait')
    expect(ask(run('x'), { others: [run('y', working('*'))] }).kind).toBe('wait')
  })

  it('waits for a run of another namespace on the same host, without its name', () => {
    const other = run('y', working('a'), { namespace: 'other' })
    const why = 'a run of namespace other works on the same hosts'
    expect(ask(run('x'), { others: [other] })).toEqual({ kind: 'wait', why })
  })

  it('does not wait longer than a run can take for one of another namespace, which may be served by no operator', () => {
    const other = run('y', working('a'), { namespace: 'other' })
    const after = (minutes: number): AttemptDecision =>
      ask(run('x'), { others: [other], nowMs: NOW + minutes * 60_000 })
    expect(after(65).kind).toBe('wait')
    expect(after(75).kind).toBe('begin')
    // Written for a day that is still to come.
    expect(after(-15).kind).toBe('begin')
    const neighbour = run('y', working('a'))
    expect(ask(run('x'), { others: [neighbour], nowMs: NOW + 75 * 60_000 }).kind).toBe('wait')
  })

  it('does not wait for a run of another namespace with unknown hosts', () => {
    const other = run('y', working('*'), { namespace: 'other' })
    expect(ask(run('x'), { others: [other] }).kind).toBe('begin')
  })

  it('does not start after a success of the same inputs', () => {
    const annotations = { [INPUT_HASH_ANNOTATION]: 'abc' }
    const done = run('first', { JobStatus: 'Succeeded' }, { annotations })
    expect(ask(run('second', undefined, { annotations }), { others: [done] })).toMatchObject({
      kind: 'record',
      end: { reason: 'NotStarted' },
      again: false,
    })
    const otherInputs = run('second', undefined, { annotations: { [INPUT_HASH_ANNOTATION]: 'def' } })
    expect(ask(otherInputs, { others: [done] }).kind).toBe('begin')
  })

  it('starts for hosts that the successful run did not include', () => {
    const annotations = { [INPUT_HASH_ANNOTATION]: 'abc' }
    const done = run('first', { JobStatus: 'Succeeded' }, { annotations: { ...annotations, [HOSTS_ANNOTATION]: 'a' } })
    const rest = run('second', undefined, { annotations: { ...annotations, [HOSTS_ANNOTATION]: 'b' } })
    expect(ask(rest, { others: [done] }).kind).toBe('begin')
  })

  it('always starts without an input hash, as when a person created it', () => {
    expect(ask(run('mine'), { others: [run('yours', { JobStatus: 'Succeeded' })] }).kind).toBe('begin')
  })

  it('is Unknown without a recorded result, and retried as the next attempt', () => {
    const decision = ask(run('x', working('a')), { executorState: { kind: 'absent' } })
    expect(decision).toMatchObject({ kind: 'record', end: { reason: 'Unknown' }, again: true })
    const after = run('x', {
      JobStatus: 'Pending',
      tries: 1,
      result: { reason: 'Unknown', finishedAt: '2025-12-31T23:59:59Z' },
    })
    expect(ask(after)).toMatchObject({ kind: 'wait', forMs: 9_000 })
    expect(ask(after, { nowMs: NOW + 9_000 })).toEqual({ kind: 'begin', attempt: 2 })
  })

  it('waits longer after each attempt, up to the maximum', () => {
    const failed = (tries: number): AnsibleRun =>
      run('x', {
        JobStatus: 'Pending',
        tries,
        result: { reason: 'Failed', finishedAt: '2026-01-01T00:00:00Z' },
      })
    const rests = [1, 2, 3].map((tries) => ask(failed(tries)))
    expect(rests.map((rest) => rest.kind === 'wait' && rest.forMs)).toEqual([10_000, 20_000, 30_000])
  })

  it('fails when its attempts are used up, or when a retry cannot succeed', () => {
    const end = (reason: 'Failed' | 'NotStarted', tries: number): unknown =>
      ask(run('x', { ...working('a'), tries }), { executorState: { kind: 'ended', end: { reason } } })
    expect(end('Failed', 2)).toMatchObject({ again: true })
    expect(end('Failed', 3)).toMatchObject({ again: false })
    expect(end('NotStarted', 1)).toMatchObject({ again: false })
  })

  it('is cancelled when it is deleted, and cleaned up after its end', () => {
    const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(ask(run('x', working('a'), gone), { hasFinalizer: true })).toEqual({ kind: 'cancel' })
    expect(ask(run('x', working('a'), gone))).toEqual({ kind: 'nothing' })
    expect(ask(run('x', { JobStatus: 'Succeeded' }), { hasFinalizer: true })).toEqual({ kind: 'clean' })
    expect(ask(run('x', { JobStatus: 'Succeeded' }))).toEqual({ kind: 'nothing' })
  })

  it('never starts twice at once, after its end, or more often than allowed (property)', () => {
    const statuses = fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed')
    const standings = fc.constantFrom('absent', 'running', 'ended')
    fc.assert(
      fc.property(statuses, standings, fc.nat(4), (JobStatus, kind, tries) => {
        const status: AnsibleRunStatus = {
          JobStatus: JobStatus as 'Pending',
          tries,
          running: { startedAt: '2026-01-01T00:00:00Z', hosts: ['a'] },
        }
        const executorState = kind === 'ended' ? { kind, end: { reason: 'Failed' as const } } : { kind }
        const decision = ask(run('x', status), { executorState: executorState as never })
        if (decision.kind === 'begin') expect(JobStatus).toBe('Pending')
        if (decision.kind === 'record' && decision.again) expect(tries).toBeLessThan(3)
        if (JobStatus === 'Running' && kind === 'running') expect(decision.kind).toBe('progress')
      }),
    )
  })
})
