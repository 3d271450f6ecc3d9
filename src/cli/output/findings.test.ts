import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import type { Finding, Severity } from '../../errors/finding.ts'
import { countFindings, formatFindings, printFindings } from './findings.ts'

const finding = (severity: Severity, code: string): Finding => ({ severity, code, message: 'a', remedy: 'b' })
const findings = [
  finding('error', 'SL0003'),
  finding('info', 'SL0001'),
  finding('warning', 'SL0002'),
  finding('error', 'SL0004'),
]

describe('findings', () => {
  it('have commands for the file and the cluster of the command that prints them', () => {
    const io = testIo({ commandLine: ['up', '-f', 'prod.yaml', '--context', 'prod'] })
    const remedy = 'run `stackloom plan`, then `kubectl get pods`'
    printFindings([{ code: 'SL0001', severity: 'error', message: 'it failed', remedy }], io)
    expect(io.err()).toContain(
      'run `stackloom plan -f prod.yaml --context prod`, then `kubectl --context prod get pods`',
    )
  })

  it('are printed with errors last, in the order of their place', () => {
    expect(formatFindings(findings, false).match(/SL\d+/g)).toEqual(['SL0001', 'SL0002', 'SL0003', 'SL0004'])
  })

  it('wrap with a hanging indent on a terminal, and not in a pipe', () => {
    const long = {
      ...finding('warning', 'SL0002'),
      message: 'word '.repeat(30).trim(),
      remedy: 'do '.repeat(40).trim(),
    }
    const written: string[] = []
    const io = { ...testIo(), stderr: (text: string) => void written.push(text) }
    printFindings([long], { ...io, terminal: { columns: () => 40 } as never })
    const lines = written.join('').trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(6)
    expect(lines.filter((line) => line.length > 40)).toEqual([])
    expect(lines.slice(1).every((line) => line.startsWith('    '))).toBe(true)
    const remedy = lines.findIndex((line) => line.startsWith('    fix: do'))
    expect(lines[remedy + 1]).toMatch(/^ {9}do/)
    for (const target of [io, { ...io, terminal: { columns: () => 0 } as never }]) {
      written.length = 0
      printFindings([long], target)
      expect(written.join('').trimEnd().split('\n')).toHaveLength(2)
    }
  })

  it('are printed once for one problem of several clouds, with the names of the others', () => {
    const many = Array.from({ length: 20 }, (_, index) => ({
      ...finding('error', 'SL0003'),
      message: `cloud-${index}/storage needs a VLAN`,
      remedy: 'widen the range',
    }))
    const [first, also, fix, ...rest] = formatFindings(many, false).trimEnd().split('\n')
    expect(first).toBe('error SL0003: cloud-0/storage needs a VLAN')
    expect(also).toMatch(/^ {4}also: cloud-1\/storage, .* and 7 more$/)
    expect([fix, rest]).toEqual(['    fix: widen the range', []])
    expect(countFindings(many)).toBe('20 errors')
  })

  it('are limited to ten of one code, with the number of the others', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      ...finding('error', 'SL0003'),
      message: `a${index} overlaps b${index}`,
    }))
    const lines = formatFindings([...many, finding('error', 'SL0004')], false)
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(2 * 11 + 1)
    expect(lines).toContain('error SL0003: 9990 more findings of this code; -o json lists all of them')
  })

  it('are counted by severity', () => {
    expect(countFindings(findings)).toBe('2 errors, 1 warning, 1 info')
    expect(countFindings([])).toBe('no findings')
  })
})
