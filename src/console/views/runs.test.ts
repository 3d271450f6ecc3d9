/** Runs: how long what is left takes, by earlier runs, and which stages decide it. */
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../run/events.ts'
import { buildRun, foldRun } from './runs.ts'

const START = Date.parse('2026-11-17T12:00:00Z')
const stages = [
  { id: 'operators', stage: 'operators', after: [] },
  { id: 'a/network', stage: 'network', cloud: 'a', after: ['operators'] },
  { id: 'b/network', stage: 'network', cloud: 'b', after: ['operators'] },
  { id: 'a/control-plane', stage: 'control-plane', cloud: 'a', after: ['a/network'] },
]

/** Stages with when they start and, if they have ended, end, in seconds. */
function runOf(times: Readonly<Record<string, readonly [number, number?]>>, isFinished: boolean) {
  const at = (seconds: number) => ({ run: 'r', time: new Date(START + seconds * 1000).toISOString() })
  const events: RunEvent[] = [{ ...at(0), kind: 'run-started', what: 'up site.yaml', stages }]
  for (const { id, stage, cloud } of stages) {
    const [start, end] = times[id] ?? []
    const place = { stage, ...(cloud !== undefined && { cloud }) }
    if (start !== undefined) events.push({ ...at(start), ...place, kind: 'stage-started' })
    if (start !== undefined && end !== undefined)
      events.push({ ...at(end), ...place, kind: 'stage-finished', outcome: 'done', ms: (end - start) * 1000 })
  }
  if (isFinished) events.push({ ...at(100), kind: 'run-finished', outcome: 'done', ms: 100_000 })
  return foldRun(events)
}

const earlier = (network: number, controlPlane: number) =>
  runOf(
    {
      operators: [0, 10],
      'a/network': [10, 10 + network],
      'b/network': [10, 10 + network],
      'a/control-plane': [10 + network, 10 + network + controlPlane],
    },
    true,
  )

const build = (view: ReturnType<typeof runOf>, before: Parameters<typeof buildRun>[1], seconds: number) =>
  buildRun({ id: 'r', source: 'live', view, events: 9, isAlive: true }, before, START + seconds * 1000)

describe('a run that failed', () => {
  const failWith = (remedy: string, command?: readonly string[]) => {
    const base = { run: 'r', time: new Date(START).toISOString(), stage: 'operators' }
    const failure = { code: 'SL4000', severity: 'error', message: 'it cannot be created', remedy } as const
    const view = foldRun([
      { ...base, kind: 'run-started', what: 'up site.yaml', stages, ...(command && { command }) },
      { ...base, kind: 'stage-started' },
      { ...base, kind: 'waiting', reason: 'b', object: { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'b' } },
      { ...base, kind: 'finding', finding: failure },
      { ...base, kind: 'stage-finished', outcome: 'failed', ms: 1000 },
      { ...base, kind: 'run-finished', outcome: 'failed', ms: 1000 },
    ])
    return build(view, [], 1)
  }

  it('continues with the command of the remedy', () => {
    expect(failWith('look closer with `kubectl get pods`; then run the same command').next).toBe('kubectl get pods')
  })

  it('continues with its own command where the remedy names a field of the site file', () => {
    const remedy = 'create it, or name another one as `storageClass` in the site file'
    expect(failWith(remedy)).toMatchObject({ next: 'stackloom up -f site.yaml', remedy })
  })

  it('continues on the cluster and with the options that it had', () => {
    const options = ['--kubeconfig', 'my config', '--context=prod']
    const words = ['up', '--cloud', 'b', ...options]
    const { next, command, stages } = failWith('name another `storageClass`', words)
    expect([next, command]).toEqual(Array(2).fill("stackloom up --cloud b --kubeconfig 'my config' --context=prod"))
    expect(failWith('run `stackloom doctor`', words).next).toBe(
      "stackloom doctor --kubeconfig 'my config' --context prod",
    )
    expect(stages.find(({ id }) => id === 'operators')?.command).toBe(
      "kubectl --kubeconfig 'my config' --context prod -n a describe pod b",
    )
  })
})

describe('a run whose process is gone', () => {
  it('is interrupted, and continues with its own command', () => {
    const view = runOf({ operators: [0, 10] }, false)
    const { run, next } = buildRun({ id: 'r', source: 'live', view, events: 3, isAlive: false }, [], START)
    expect([run.state, next]).toEqual(['interrupted', 'stackloom up -f site.yaml'])
  })
})

describe('a run that goes on', () => {
  // At 15 s: 5 of 20 s of the network are over, and the control plane follows it.
  const view = runOf({ operators: [0, 10], 'a/network': [10], 'b/network': [10, 14] }, false)

  it('is estimated by the median of earlier runs, along the longest way', () => {
    const { estimate, stages: lines } = build(view, [earlier(10, 30), earlier(20, 40), earlier(30, 90)], 15)
    expect(estimate).toEqual({ leftMs: 55_000, totalMs: 70_000, runs: 3 })
    expect(lines.find(({ id }) => id === 'a/control-plane')?.estimateMs).toBe(40_000)
  })

  it('is not estimated without earlier runs, nor after its end', () => {
    expect(build(view, [], 15)).not.toHaveProperty('estimate')
    expect(build(earlier(20, 40), [earlier(10, 30)], 200)).not.toHaveProperty('estimate')
  })

  it('has the critical path that the estimates foresee', () => {
    expect(build(view, [earlier(20, 40)], 15).criticalPath).toEqual(['operators', 'a/network', 'a/control-plane'])
  })

  it('takes a stage that is longer than ever as nearly done, not as done before it began', () => {
    expect(build(view, [earlier(2, 40)], 15).estimate?.leftMs).toBe(40_000)
  })
})
