/** What every executor of runs promises: the same tests for all of them. */
import { expect, it } from 'vitest'
import type { Attempt, Executor, ExecutorState } from '../../../src/dataplane/execution/executor.ts'
import type { RunInputs } from '../../../src/dataplane/execution/run-inputs.ts'

export interface Prepared {
  readonly attempt: Attempt
  readonly materials: RunInputs
}

export interface ContractRig {
  /** A new one over the same machine or cluster, as after a restart. */
  readonly executor: (settings?: { readonly timeLimitMs: number }) => Executor
  readonly prepare: (does: 'succeed' | 'fail' | 'hang') => Promise<Prepared>
  /** How often the attempt has really begun. */
  readonly begun: (attempt: Attempt) => Promise<number>
}

const never = new AbortController().signal
const PATIENCE = { timeout: 120_000, interval: 200 }

async function until(executor: Executor, attempt: Attempt, kind: ExecutorState['kind']): Promise<ExecutorState> {
  let seen: ExecutorState = { kind: 'absent' }
  const look = async (): Promise<string> => {
    seen = await executor.inspect(attempt, never)
    return seen.kind
  }
  await expect.poll(look, PATIENCE).toBe(kind)
  return seen
}

export function executorContract(rig: ContractRig): void {
  it('knows nothing of an attempt that was not begun', async () => {
    const { attempt } = await rig.prepare('succeed')
    expect(await rig.executor().inspect(attempt, never)).toEqual({ kind: 'absent' })
    expect(await rig.executor().cancel(attempt, never)).toBe(true)
  })

  it('begins once, and tells the end to whoever comes later', async () => {
    const { attempt, materials } = await rig.prepare('succeed')
    const executor = rig.executor()
    await executor.start(attempt, materials, never)
    await executor.start(attempt, materials, never)
    const ended = await until(executor, attempt, 'ended')
    expect(ended).toMatchObject({ end: { reason: 'Completed' } })
    expect(await rig.executor().inspect(attempt, never)).toEqual(ended)
    await rig.executor().start(attempt, materials, never)
    expect(await rig.begun(attempt)).toBe(1)
    await executor.cleanUp(attempt, never)
  }, 180_000)

  it('tells which host failed, and why', async () => {
    const { attempt, materials } = await rig.prepare('fail')
    const executor = rig.executor()
    await executor.start(attempt, materials, never)
    expect(await until(executor, attempt, 'ended')).toMatchObject({
      end: {
        reason: 'Failed',
        message: expect.stringContaining('not today'),
        hosts: { 'edpm-compute-0': { failures: 1 } },
      },
    })
  }, 180_000)

  it('ends what is cancelled, whole', async () => {
    const { attempt, materials } = await rig.prepare('hang')
    const executor = rig.executor()
    await executor.start(attempt, materials, never)
    await expect.poll(() => rig.begun(attempt), PATIENCE).toBe(1)
    expect(await executor.inspect(attempt, never)).toMatchObject({ kind: 'running' })
    await expect.poll(() => executor.cancel(attempt, never), PATIENCE).toBe(true)
    expect(await rig.executor().inspect(attempt, never)).not.toMatchObject({ kind: 'running' })
  }, 180_000)

  it('ends what takes longer than its time', async () => {
    const { attempt, materials } = await rig.prepare('hang')
    const executor = rig.executor({ timeLimitMs: 2_000 })
    await executor.start(attempt, materials, never)
    expect(await until(executor, attempt, 'ended')).toMatchObject({ end: { reason: 'TimedOut' } })
  }, 180_000)
}
