import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { type Finding, isFileLocation } from '../../errors/finding.ts'
import { readSite } from '../../site/read.ts'
import { emptyLock } from '../lock.ts'
import { planSite } from '../planner.ts'
import { builtInTable } from '../slots/built-in-crds.ts'

const folder = path.join(import.meta.dirname, '../../../test/samples/plan-lints')
// Hundreds of hosts say no more than two do.
const files = readdirSync(folder)
  .map((file) => readFileSync(path.join(folder, file)))
  .filter((bytes) => bytes.length < 2000)
const slots = builtInTable()

function findingsOf(bytes: Uint8Array): readonly Finding[] {
  const { site, locate, findings } = readSite(bytes, 'site.yaml')
  return site ? planSite({ site, locate, findings, lock: emptyLock(site.name), slots }).plan.findings : findings
}

interface Mutation {
  readonly at: number
  readonly kind: 'replace' | 'insert' | 'remove'
  readonly byte: number
}

function mutated(bytes: Uint8Array, mutations: readonly Mutation[]): Uint8Array {
  const all = [...bytes]
  for (const { at, kind, byte } of mutations) {
    const index = at % Math.max(all.length, 1)
    if (kind === 'replace') all[index] = byte
    else all.splice(index, kind === 'insert' ? 0 : 1, ...(kind === 'insert' ? [byte] : []))
  }
  return Uint8Array.from(all)
}

describe('a site file with random bytes in it', () => {
  it('never crashes the planner, and every refusal has a location in the file', () => {
    const byte = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('0123456789.:/-{}[],\n "#&*!|>')))
    const mutation = fc.record({
      at: fc.nat(5000),
      kind: fc.constantFrom('replace' as const, 'insert' as const, 'remove' as const),
      byte,
    })
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(mutation, { minLength: 1, maxLength: 4 }), (file, mutations) => {
        for (const finding of findingsOf(mutated(file, mutations))) {
          if (finding.severity !== 'error') continue
          expect(finding.where && isFileLocation(finding.where), `${finding.code} ${finding.message}`).toBe(true)
          expect(finding.message).not.toMatch(/undefined|\[object|NaN|\n\s+at /)
        }
      }),
      { numRuns: count({ test: 200, soak: 10_000 }) },
    )
  })
})
