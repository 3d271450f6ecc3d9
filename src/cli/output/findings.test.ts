import { describe, expect, it } from 'vitest'
import type { Finding, Severity } from '../../errors/finding.ts'
import { countFindings, formatFindings } from './findings.ts'

const finding = (severity: Severity, code: string): Finding => ({ severity, code, message: 'a', remedy: 'b' })
const findings = [
  finding('error', 'SL0003'),
  finding('info', 'SL0001'),
  finding('warning', 'SL0002'),
  finding('error', 'SL0004'),
]

describe('findings', () => {
  it('are printed with errors last, in the order of their place', () => {
    expect(formatFindings(findings, false).match(/SL\d+/g)).toEqual(['SL0001', 'SL0002', 'SL0003', 'SL0004'])
  })

  it('are counted by severity', () => {
    expect(countFindings(findings)).toBe('2 errors, 1 warning, 1 info')
    expect(countFindings([])).toBe('no findings')
  })
})
