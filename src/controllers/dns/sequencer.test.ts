import { describe, expect, it } from 'vitest'
import { createSequencer } from './sequencer.ts'

/** What has ended so far, in its order. */
async function ended(waits: Readonly<Record<string, Promise<void>>>): Promise<readonly string[]> {
  const names: string[] = []
  for (const [name, wait] of Object.entries(waits)) void wait.then(() => names.push(name))
  await new Promise((resolve) => setImmediate(resolve))
  return names
}

describe('who waits for a turn', () => {
  it('waits for nothing where nothing is wanted', async () => {
    expect(await ended({ mine: createSequencer().settled('a') })).toEqual(['mine'])
  })

  it('waits for one that has not begun, until it has ended', async () => {
    const turns = createSequencer()
    turns.request('a')
    const mine = turns.settled('a')
    const end = turns.begin('a')
    expect(await ended({ mine })).toEqual([])
    end()
    expect(await ended({ mine })).toEqual(['mine'])
  })

  it('waits for the one that runs, if it began after the last change', async () => {
    const turns = createSequencer()
    const end = turns.begin('a')
    const mine = turns.settled('a')
    expect(await ended({ mine, other: turns.settled('b') })).toEqual(['other'])
    end()
    expect(await ended({ mine })).toEqual(['mine'])
  })

  it('waits for the next one, if something has changed since the one that runs began', async () => {
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
