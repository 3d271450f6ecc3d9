import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { stageTable } from '../../deploy/stage-table.ts'
import { main } from '../main.ts'

describe('stackloom stages', () => {
  it('lists every stage with its dependencies, in lines that fit a terminal', async () => {
    const io = testIo()
    expect(await main(['stages'], io)).toBe(0)
    const lines = io.out().split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const words = io.out().replaceAll(/\s+/g, ' ')
    for (const { name, after, replaces } of stageTable) {
      expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true)
      if (after.length > 0) expect(words).toContain(`after ${after.map((dependency) => dependency.name).join(', ')}`)
      expect(words).toContain(`replaces ${replaces}`)
    }
  })

  it('shows with -o wide the reason for each dependency', async () => {
    const io = testIo()
    expect(await main(['stages', '-o', 'wide'], io)).toBe(0)
    expect(io.out()).toContain('  after nmstate: its handlers configure the nodes\n')
  })
})
