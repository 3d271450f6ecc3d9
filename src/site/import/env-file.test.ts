import { describe, expect, it } from 'vitest'
import { readEnvFile } from './env-file.ts'

function values(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...readEnvFile({ file: 'f', text }).values].map(([name, { value }]) => [name, value]))
}

describe('environment files', () => {
  it.each([
    ['A=1', { A: '1' }],
    ['export A=1', { A: '1' }],
    ["A='a b' # why", { A: 'a b' }],
    ['A="a \\"b\\""', { A: 'a "b"' }],
    ['A=1 # one', { A: '1' }],
    ['A=', { A: '' }],
    ['A ?= 1', { A: '1' }],
    ['P=172.17\nA=${P}.0\nB=$P.1\nC="${MISSING}x"', { P: '172.17', A: '172.17.0', B: '172.17.1', C: 'x' }],
    ['# A=1\n\n  \nB=2\r\n', { B: '2' }],
  ])('reads %j', (text, expected) => {
    expect(values(text)).toEqual(expected)
    expect(readEnvFile({ file: 'f', text }).findings).toEqual([])
  })

  it.each(['A=$(hostname)', 'A=`hostname`', 'source x', 'make nncp', 'A="open', 'A=1; B=2'])(
    'runs nothing: %s',
    (text) => {
      const { findings } = readEnvFile({ file: 'f', text: `\n  ${text}` })
      expect(findings).toEqual([expect.objectContaining({ code: 'SL2070' })])
      expect(findings[0]).toHaveProperty('where.line', 2)
    },
  )
})
