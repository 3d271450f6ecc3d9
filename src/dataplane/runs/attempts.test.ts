import { describe, expect, it } from 'vitest'
import { ansibleRun, counted, ended } from '../../../test/data-plane.ts'
import { HOSTS_ANNOTATION } from '../kinds/ansible-run.ts'
import { dataPlaneNodes } from '../kinds/data-plane.ts'
import { findAttempt, HOST_INPUTS_ANNOTATION, isActiveOn, isSince, resolveApplied, runHosts } from './attempts.ts'

const hosts = { a: 'hash-a', b: 'hash-b' }
const failed = { ...counted, failures: 1 }
const dark = { ...counted, unreachable: 1 }
const outcome = (status: Parameters<typeof ansibleRun>[1]['status'], host = 'a', spec = {}): string | undefined =>
  findAttempt(ansibleRun('r', { step: 'nova', hosts, status, spec }), host, 'nova')?.outcome

describe('findAttempt', () => {
  it('returns nothing for another step, or for a host that is not in the run', () => {
    const run = ansibleRun('r', { step: 'nova', hosts })
    expect(findAttempt(run, 'a', 'libvirt')).toBeUndefined()
    expect(findAttempt(run, 'c', 'nova')).toBeUndefined()
  })

  it.each(['null', '[]', '5', '"a"', '{"a": null}', '{'])(
    'ignores host inputs that are no list of hashes: %s',
    (text) => {
      const run = ansibleRun('r', { step: 'nova', hosts: {} })
      const { [HOSTS_ANNOTATION]: _, ...annotations } = run.metadata.annotations ?? {}
      const forged = {
        ...run,
        metadata: { ...run.metadata, annotations: { ...annotations, [HOST_INPUTS_ANNOTATION]: text } },
      }
      expect([...runHosts(forged)]).toEqual([])
      expect(findAttempt(forged, 'a', 'nova')).toBeUndefined()
    },
  )

  it('returns the outcome of the host, not of the whole run', () => {
    expect(outcome(ended('Failed', { hosts: { a: counted, b: failed } }), 'a')).toBe('succeeded')
    expect(outcome(ended('Failed', { hosts: { a: counted, b: failed } }), 'b')).toBe('failed')
    expect(outcome(ended('Unreachable', { hosts: { a: counted, b: dark } }), 'b')).toBe('failed')
    expect(outcome(ended('Completed', { hosts: { a: dark } }), 'a')).toBe('failed')
    expect(outcome(ended('Completed'), 'a')).toBe('succeeded')
  })

  it('returns a failure for a run that was cut short, whatever its counts', () => {
    const cut = { hosts: { a: counted } }
    for (const reason of ['TimedOut', 'Cancelled', 'Unknown', 'NotStarted'] as const) {
      expect(outcome(ended(reason, cut))).toBe('failed')
    }
    expect(outcome(ended('Failed', { hosts: { a: counted, b: failed } }), 'a', { roles: {} })).toBe('failed')
    expect(
      outcome(ended('Failed', { hosts: { a: counted, b: failed } }), 'a', {
        play: '- hosts: all\n  any_errors_fatal: true\n',
      }),
    ).toBe('failed')
  })

  it('says of a running attempt why it makes no progress', () => {
    const running = { startedAt: '2026-01-01T00:00:00Z', hosts: ['a'], stalled: 'its node does not answer' }
    const run = ansibleRun('r', { step: 'nova', hosts, status: { JobStatus: 'Running', running } })
    expect(findAttempt(run, 'a', 'nova')).toMatchObject({ outcome: 'running', why: 'its node does not answer' })
  })

  it('reads no result for a node that is called constructor from a run of other hosts', () => {
    expect(outcome(ended('Failed', { hosts: { a: counted, b: failed } }), 'constructor')).toBeUndefined()
    const run = ansibleRun('r', {
      step: 'nova',
      hosts: { constructor: 'hash' },
      status: ended('Failed', { hosts: {} }),
    })
    expect(findAttempt(run, 'constructor', 'nova')?.outcome).toBe('failed')
  })

  it('returns a running attempt until the result is recorded', () => {
    expect(outcome(undefined)).toBe('running')
    expect(outcome({ JobStatus: 'Running' })).toBe('running')
    expect(isActiveOn(ansibleRun('r', { step: 'nova', hosts }), 'a')).toBe(true)
    expect(isActiveOn(ansibleRun('r', { step: 'nova', hosts }), 'c')).toBe(false)
    expect(isActiveOn(ansibleRun('r', { step: 'nova', hosts, status: ended('Unknown') }), 'a')).toBe(false)
  })
})

describe('resolveApplied', () => {
  it('returns what is recorded, and what later runs prove', () => {
    const recorded = { nova: { hash: 'before', run: 'first', at: '2025-12-31T00:00:00.000Z' } }
    const later = ansibleRun('later', { step: 'nova', hosts, status: ended('Completed') })
    expect(resolveApplied(recorded, ['nova'], 'a', [])).toEqual(recorded)
    expect(resolveApplied(recorded, ['nova'], 'a', [later])).toEqual({
      nova: { hash: 'hash-a', run: 'later', at: '2026-01-01T00:00:00.000Z' },
    })
    const earlier = { nova: { hash: 'x', run: 'y', at: '2026-01-02T00:00:00.000Z' } }
    expect(resolveApplied(earlier, ['nova'], 'a', [later])).toEqual(earlier)
  })

  describe('with a run of other inputs that failed later', () => {
    const done = { nova: { hash: 'before', run: 'first', at: '2025-12-31T00:00:00.000Z' } }
    const fails = (status: Parameters<typeof ansibleRun>[1]['status']) =>
      resolveApplied(done, ['nova'], 'a', [ansibleRun('later', { step: 'nova', hosts, status })])['nova']

    it('records the run, because it may have changed the host', () => {
      expect(fails(ended('Failed', { hosts: { a: failed } }))?.overwrittenBy).toBe('later')
      expect(fails(ended('TimedOut'))?.overwrittenBy).toBe('later')
      expect(fails(ended('Unreachable', { hosts: { a: dark } }))?.overwrittenBy).toBe('later')
    })

    it('records nothing for a run that never reached the host, or that ended before', () => {
      const never = { ok: 0, changed: 0, failures: 0, unreachable: 1 }
      expect(fails(ended('NotStarted'))).toEqual(done.nova)
      expect(fails(ended('Unreachable', { hosts: { a: never } }))).toEqual(done.nova)
      const early = { hosts: { a: failed }, finishedAt: '2025-12-30T00:00:00.000Z' }
      expect(fails(ended('Failed', early))).toEqual(done.nova)
    })

    it('records a run from its start, because it may be cancelled, and forgets one that never reached the host', () => {
      const started = { JobStatus: 'Running' as const, tries: 1 }
      expect(fails({ JobStatus: 'Pending' })).toEqual(done.nova)
      expect(fails(started)?.overwrittenBy).toBe('later')
      const recorded = { nova: { ...done.nova, overwrittenBy: 'later' } }
      const ends = (status: ReturnType<typeof ended>) =>
        resolveApplied(recorded, ['nova'], 'a', [ansibleRun('later', { step: 'nova', hosts, status })])['nova']
      expect(ends(ended('NotStarted'))).toEqual(done.nova)
      expect(ends(ended('Cancelled'))).toEqual(recorded.nova)
      expect(ends(ended('Completed'))).toMatchObject({ hash: 'hash-a', run: 'later' })
    })

    it('names the first of several that may have changed the host', () => {
      const run = (name: string, second: number, status: ReturnType<typeof ended>) => {
        const finishedAt = `2026-01-01T00:00:0${second}.000Z`
        const result = { ...status?.result, finishedAt } as NonNullable<NonNullable<typeof status>['result']>
        return ansibleRun(name, { step: 'nova', hosts: { a: name }, status: { ...status, result } })
      }
      const runs = [
        run('third', 3, ended('TimedOut')),
        run('second', 2, ended('Failed', { hosts: { a: failed } })),
        run('first', 1, ended('NotStarted')),
      ]
      expect(resolveApplied(done, ['nova'], 'a', runs)['nova']?.overwrittenBy).toBe('second')
    })

    it('keeps the record when the run is deleted, until a run succeeds', () => {
      const recorded = { nova: { ...done.nova, overwrittenBy: 'deleted' } }
      expect(resolveApplied(recorded, ['nova'], 'a', [])).toEqual(recorded)
      const again = ansibleRun('again', { step: 'nova', hosts: { a: 'before' }, status: ended('Completed') })
      expect(resolveApplied(recorded, ['nova'], 'a', [again])['nova']).toEqual({
        hash: 'before',
        run: 'again',
        at: '2026-01-01T00:00:00.000Z',
      })
    })
  })
})

describe('isSince', () => {
  const run = (creationTimestamp: string, owner: string) => {
    const { metadata, ...rest } = ansibleRun('r', { step: 'nova', hosts })
    const ownerReferences = [{ ...dataPlaneNodes, name: 'n', uid: owner }]
    return { ...rest, metadata: { ...metadata, creationTimestamp, ownerReferences } }
  }
  const node = {
    ...dataPlaneNodes,
    metadata: { name: 'n', uid: 'node', creationTimestamp: '2026-01-01T00:00:10Z' },
  }

  it('is false for a run that is older than the object', () => {
    expect(isSince(run('2026-01-01T00:00:10Z', 'role'), node)).toBe(true)
    expect(isSince(run('2026-01-01T00:00:04Z', 'role'), node)).toBe(false)
  })

  it('is true for a run of the object, and where the clocks of API servers differ by little', () => {
    expect(isSince(run('2026-01-01T00:00:04Z', 'node'), node)).toBe(true)
    expect(isSince(run('2026-01-01T00:00:08Z', 'role'), node)).toBe(true)
  })
})
