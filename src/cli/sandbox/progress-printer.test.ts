import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { finding } from '../../errors/finding.ts'
import { webhooksDisabled } from '../../sandbox/findings.ts'
import { progressPrinter } from './progress-printer.ts'

const compiling = (done: number) => ({ kind: 'progress', text: 'compiling', done, total: 9 }) as const

describe('the progress printer', () => {
  it('prints a new step immediately and repeats a step rarely in a log', () => {
    const io = testIo()
    let now = 0
    const { notify } = progressPrinter(io, () => now)
    notify({ kind: 'progress', text: 'fetching', done: 1 })
    notify({ kind: 'progress', text: 'fetching', done: 2 })
    notify(compiling(1))
    notify(compiling(2))
    now = 60_000
    notify(compiling(8))
    expect(io.err()).toBe('fetching 1\ncompiling 1/9\ncompiling 8/9\n')
  })

  it('updates one line on a terminal and clears it', () => {
    const io = testIo({ colour: { stdout: true, stderr: true }, columns: 12 })
    const { notify, end } = progressPrinter(io)
    notify(compiling(1))
    notify(compiling(2))
    end()
    expect(io.err().split('\r\u001b[K')).toEqual(['', 'compiling 1', 'compiling 2', ''])
  })

  it('prints a finding in full between two steps', () => {
    const io = testIo()
    const { notify } = progressPrinter(io)
    notify({ kind: 'finding', finding: finding(webhooksDisabled, { port: 9443 }) })
    expect(io.err()).toContain('warning SL1212')
    expect(io.out()).toBe('')
  })
})
