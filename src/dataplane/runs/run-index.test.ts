import { describe, expect, it } from 'vitest'
import { ansibleRun, counted, ended } from '../../../test/data-plane.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import { prunableRuns } from './run-index.ts'

const failed = { ...counted, failures: 1 }
const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`

/** Runs of one step, oldest first, each with the inputs of its hosts and whether it succeeded. */
function history(...tries: readonly (readonly [hosts: Readonly<Record<string, string>>, ok: boolean])[]) {
  return tries.map(
    ([hosts, ok], n): AnsibleRun =>
      ansibleRun(`run-${n}`, {
        step: 'install-os',
        hosts,
        status: ended(ok ? 'Completed' : 'Failed', {
          finishedAt: at(n),
          hosts: Object.fromEntries(Object.keys(hosts).map((host) => [host, ok ? counted : failed])),
        }),
      }),
  )
}
const prunable = (runs: readonly AnsibleRun[], proofs: readonly string[] = []): readonly string[] =>
  prunableRuns(runs, new Set(proofs), 3)
    .map(({ metadata }) => metadata.name)
    .toSorted()

describe('prunableRuns', () => {
  it('returns runs that are older than the last three and no proof of a recorded status', () => {
    const runs = history([{ a: '1' }, true], [{ a: '2' }, true], [{ a: '3' }, true], [{ a: '4' }, true])
    expect(prunable(runs)).toEqual(['run-0'])
    expect(prunable(runs, ['run-0'])).toEqual([])
  })

  it('keeps the failures of a host that has yet to succeed', () => {
    const failing = Array.from({ length: 6 }, () => [{ a: '1' }, false] as const)
    expect(prunable(history(...failing))).toEqual([])
    expect(prunable(history([{ a: '1' }, false], ...failing.slice(1), [{ a: '1' }, true]))).toEqual([
      'run-0',
      'run-1',
      'run-2',
      'run-3',
    ])
  })

  it('returns failures with outdated inputs', () => {
    const old = Array.from({ length: 4 }, () => [{ a: 'old' }, false] as const)
    expect(prunable(history(...old, [{ a: 'new' }, false]))).toEqual(['run-0', 'run-1'])
  })

  it('keeps a run that one of its hosts needs', () => {
    const alone = [{ a: '1' }, false] as const
    const both = [{ a: '1', b: '1' }, false] as const
    expect(prunable(history(alone, both, both, [{ b: '1' }, false], [{ b: '1' }, true]))).toEqual([])
    expect(prunable(history(both, both, both, [{ a: '1' }, true], [{ b: '1' }, true]))).toEqual(['run-0', 'run-1'])
  })

  it('keeps failures that count for a running attempt', () => {
    const runs = history(...Array.from({ length: 4 }, () => [{ a: '1' }, false] as const))
    const now = ansibleRun('run-now', { step: 'install-os', hosts: { a: '1' } })
    expect(prunable([...runs, now])).toEqual([])
    expect(prunable([...runs, ansibleRun('run-now', { step: 'install-os', hosts: { a: '2' } })])).toEqual(['run-0'])
  })
})
