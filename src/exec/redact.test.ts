import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineReader } from './process.ts'
import { createRedactor } from './redact.ts'

describe('createRedactor', () => {
  it('masks every occurrence, and a longer secret before the one that it contains', () => {
    expect(createRedactor(['abcd', 'abcdefgh'])('abcdefgh abcd xabcdx')).toBe('****** ****** x******x')
  })

  it('masks a multi-line secret line by line, but not the markers of a key', () => {
    const mask = createRedactor(['-----BEGIN PRIVATE KEY-----\nMIIEvQ\nAIBADA\n-----END PRIVATE KEY-----\n'])
    expect(mask('AIBADA')).toBe('******')
    expect(mask('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----')
  })

  it('never passes a secret through, at any position', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{4,20}$/)
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (word, before, after) => {
        expect(createRedactor([word])(before + word + after).replaceAll('*', '')).not.toContain(word)
      }),
    )
  })
})

it('reads complete lines regardless of how the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[^\r\n]*$/)), fc.array(fc.nat(40)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      const seen: string[] = []
      const reader = createLineReader((line) => seen.push(line))
      let at = 0
      for (const cut of cuts) {
        reader.push(bytes.subarray(at, at + cut))
        at += cut
      }
      reader.push(bytes.subarray(at))
      reader.end()
      expect(seen).toEqual(lines)
    }),
  )
})
