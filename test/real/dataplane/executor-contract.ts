/** The tests that every executor must pass. */
import { expect, it } from 'vitest'
import type { Attempt, Executor, ExecutorState } from '../../../src/dataplane/execution/executor.ts'
import type { RunInputs } from '../../../src/dataplane/execution/run-inputs.ts'

export interface Prepared {
  readonly attempt: Attempt
  readonly inputs: RunInputs
}

export interface ContractRig {
  /** A new executor over the same machine or cluster, as after a restart. */
  readonly executor: (settings?: { readonly timeLimitMs: number }) => Executor
  readonly prepare: (does: 'succeed' | 'fail' | 'hang') => Promise<Prepared>
  /** How often the attempt was actually started. */
  readonly starts: (attempt: Attempt) => Promise<number>
}

const never = new AbortController().signal
const POLLING = { timeout: 120_000, interval: 200 }

async function until(executor: Executor, attempt: Attempt, kind: ExecutorState['kind']): Promise<ExecutorState> {
  let seen: ExecutorState = { kind: 'absent' }
  const inspect = async (): Promise<string> => {
    seen = await executor.inspect(attempt, never)
    return seen.kind
  }
  await expect.poll(inspect, POLLING).toBe(kind)
  return seen
}

export function executorContract(rig: ContractRig): void {
  it('reports an attempt that was not started as absent', async () => {
    const { attempt } = await rig.prepare('succeed')
    expect(await rig.executor().inspect(attempt, never)).toEqual({ kind: 'absent' })
    expect(await rig.executor().cancel(attempt, never)).toBe(true)
  })

  it('starts once, and reports the end after a restart', async () => {
    const { attempt, inputs } = await rig.prepare('succeed')
    const executor = rig.executor()
    await executor.start(attempt, inputs, never)
    await executor.start(attempt, inputs, never)
    const ended = await until(executor, attempt, 'ended')
    expect(ended).toMatchObject({ end: { reason: 'Completed' } })
    expect(await rig.executor().inspect(attempt, never)).toEqual(ended)
    await rig.executor().start(attempt, inputs, never)
    expect(await rig.starts(attempt)).toBe(1)
    await executor.cleanUp(attempt, never)
  }, 180_000)

  it('reports which host failed, and why', async () => {
    const { attempt, inputs } = await rig.prepare('fail')
    const executor = rig.executor()
    await executor.start(attempt, inputs, never)
    expect(await until(executor, attempt, 'ended')).toMatchObject({
      end: {
        reason: 'Failed',
        message: expect.stringContaining('not today'),
        hosts: { 'edpm-compute-0': { failures: 1 } },
      },
    })
  }, 180_000)

  it('stops everything of a cancelled attempt', async () => {
    const { attempt, inputs } = await rig.prepare('hang')
    const executor = rig.executor()
    await executor.start(attempt, inputs, never)
    await expect.poll(() => rig.starts(attempt), POLLING).toBe(1)
    expect(await executor.inspect(attempt, never)).toMatchObject({ kind: 'running' })
    await expect.poll(() => executor.cancel(attempt, never), POLLING).toBe(true)
    expect(await rig.executor().inspect(attempt, never)).not.toMatchObject({ kind: 'running' })
  }, 180_000)

  it('stops an attempt at its time limit', async () => {
    const { attempt, inputs } = await rig.prepare('hang')
    const executor = rig.executor({ timeLimitMs: 2_000 })
    await executor.start(attempt, inputs, never)
    expect(await until(executor, attempt, 'ended')).toMatchObject({ end: { reason: 'TimedOut' } })
  }, 180_000)
}
