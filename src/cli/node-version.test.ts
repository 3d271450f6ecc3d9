import { describe, expect, it } from 'vitest'
import { testIo } from '../../test/io.ts'
import { main } from './main.ts'
import { unsupportedNodeNotice } from './node-version.ts'

describe('the notice about an unsupported Node', () => {
  it.each(['v20.19.0', 'v23.1.0', 'v25.2.1'])('is given for %s', (version) => {
    expect(unsupportedNodeNotice(version)).toContain('gets no security fixes')
  })

  it.each(['v22.12.0', 'v24.0.0', 'v26.10.0'])('is not given for %s', (version) => {
    expect(unsupportedNodeNotice(version)).toBeUndefined()
  })

  const stderr = async (words: readonly string[], interactive: boolean) => {
    const io = { ...testIo(), interactive, nodeVersion: 'v20.19.0' }
    await main(words, io)
    return io.err()
  }

  it('is printed once for a person, after the output of the command', async () => {
    const text = await stderr(['explain', 'SL2001'], true)
    expect(text.match(/gets no security fixes/g)).toHaveLength(1)
  })

  it('is not printed in a pipeline, nor with -o json, nor by completion', async () => {
    expect(await stderr(['explain', 'SL2001'], false)).toBe('')
    expect(await stderr(['explain', 'SL2001', '-o', 'json'], true)).toBe('')
    expect(await stderr(['completion', 'bash'], true)).toBe('')
  })
})
