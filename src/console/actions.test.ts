import { describe, expect, it } from 'vitest'
import { createActionRunner } from './actions.ts'
import { type ActionState, actionRequest } from './documents/actions.ts'

/** Runs each command at once with this exit code, and records what was run. */
function create(exitCode = 0) {
  const ran: string[] = []
  const states: ActionState[] = []
  const runner = createActionRunner({
    fileOptions: ['-f', 'site.yaml'],
    clusterOptions: ['--context', 'lab'],
    hasSite: true,
    execute: async (words, onOutput) => {
      ran.push(words.join(' '))
      onOutput(`output of ${words[0]}\n`)
      return exitCode
    },
    onChange: (state) => states.push(state),
  })
  const settle = async (): Promise<ActionState | undefined> => {
    await new Promise((resolve) => setImmediate(resolve))
    return states.at(-1)
  }
  return { runner, ran, settle }
}

describe('actions', () => {
  it('run the command line that they show', async () => {
    const { runner, ran, settle } = create()
    const started = await runner.start('verify', { clouds: ['rhoso1'] })
    expect(started?.command).toBe('stackloom verify -f site.yaml --context lab --cloud rhoso1')
    expect(ran).toEqual(['verify -f site.yaml --context lab --cloud rhoso1'])
    expect(await settle()).toMatchObject({ state: 'done', exitCode: 0, output: 'output of verify\n' })
  })

  it('only show what up would change until it is confirmed, and confirm once', async () => {
    const { runner, ran, settle } = create()
    await runner.start('up', {})
    const asked = await settle()
    expect(ran).toEqual(['up -f site.yaml --context lab --dry-run'])
    expect(asked).toMatchObject({ state: 'asks', question: 'Apply these changes?' })
    const confirm = asked?.confirm ?? ''
    await runner.start('up', { confirm })
    expect(ran.at(-1)).toBe('up -f site.yaml --context lab --yes --events lines')
    expect(await runner.start('up', { confirm })).toMatchObject({ state: 'failed' })
    expect(ran).toHaveLength(2)
  })

  it('accept a confirmation only for what was shown', async () => {
    const { runner, ran, settle } = create()
    await runner.start('down', { clouds: ['rhoso2'] })
    const confirm = (await settle())?.confirm ?? ''
    expect(await runner.start('down', { confirm })).toMatchObject({ state: 'failed' })
    expect(await runner.start('up', { confirm })).toMatchObject({ state: 'failed' })
    expect(ran).toEqual(['down -f site.yaml --context lab --cloud rhoso2 --dry-run'])
  })

  it('ask nothing when the preview fails', async () => {
    const { runner, settle } = create(1)
    await runner.start('up', {})
    const state = await settle()
    expect([state?.state, state?.confirm]).toEqual(['failed', undefined])
  })

  it('are the known ones, with names that are no options', async () => {
    const { runner } = create()
    expect(await runner.start('rm', {})).toBeUndefined()
    expect(await runner.start('__proto__', {})).toBeUndefined()
    expect(actionRequest.safeParse({ clouds: ['--force-conflicts'] }).success).toBe(false)
    expect(actionRequest.safeParse({ clouds: ['rhoso1'], extra: 1 }).success).toBe(false)
  })
})
