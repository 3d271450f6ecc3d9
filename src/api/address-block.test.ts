import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressBlockKind, formatHolder, parseHolder } from './address-block.ts'
import { renderCrd } from './crd.ts'

describe('formatHolder', () => {
  const word = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,20}$/)
  const holder = fc.record({ uid: word, namespace: word, name: word, network: word })

  it('returns text that parseHolder reads back', () => {
    fc.assert(
      fc.property(holder, (generated) => {
        expect(parseHolder(formatHolder(generated))).toEqual(generated)
      }),
    )
  })

  it('returns text that the CRD accepts, unlike a single word', () => {
    const [, pattern = ''] = /"additionalProperties":\{"type":"string","pattern":"([^"]+)"/.exec(
      JSON.stringify(renderCrd(addressBlockKind)),
    ) as RegExpExecArray
    const accepted = new RegExp(JSON.parse(`"${pattern}"`) as string)
    fc.assert(
      fc.property(holder, (generated) => {
        expect(formatHolder(generated)).toMatch(accepted)
      }),
    )
    expect('word').not.toMatch(accepted)
  })
})
