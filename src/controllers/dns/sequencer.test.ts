import { describe, expect, it } from 'vitest'
import { createSequencer } from './sequencer.ts'

/** What has finished so far, in order. */
async function ended(waits: Readonly<Record<string, Promise<void>>>): Promise<readonly string[]> {
  const names: string[] = []
  for (const [name, wait] of Object.entries(waits)) void wait.then(() => names.push(name))
  await new Promise((resolve) => setImmediate(resolve))
  return names
}

describe('settled', () => {
  it('resolves at once when no work is requested', async () => {
    expect(await ended({ mine: createSequencer().settled('a') })).toEqual(['mine'])
  })

  it('waits for requested work to begin and finish', async () => {
    const turns = createSequencer()
    turns.request('a')
    const mine = turns.settled('a')
    const end = turns.begin('a')
    expect(await ended({ mine })).toEqual([])
    end()
    expect(await ended({ mine })).toEqual(['mine'])
  })

  it('waits for the running work if it began after the last request', async () => {
    const turns = createSequencer()
    const end = turns.begin('a')
    const mine = turns.settled('a')
    expect(await ended({ mine, other: turns.settled('b') })).toEqual(['other'])
    end()
    expect(await ended({ mine })).toEqual(['mine'])
  })

  it('waits for the next work if something was requested since the running work began', async () => {
    const turns = createSequencer()
    const endFirst = turns.begin('a')
    turns.request('a')
    const mine = turns.settled('a')
    endFirst()
    expect(await ended({ mine })).toEqual([])
    turns.begin('a')()
    expect(await ended({ mine })).toEqual(['mine'])
  })
})
