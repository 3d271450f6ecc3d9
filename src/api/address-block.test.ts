import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressBlockKind, formatHolder, parseHolder } from './address-block.ts'
import { renderCrd } from './crd.ts'

describe('The holder of an address', () => {
  const word = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,20}$/)
  const holder = fc.record({ uid: word, namespace: word, name: word, network: word })

  it('is one line of text that says the same when it is read again', () => {
    fc.assert(
      fc.property(holder, (one) => {
        expect(parseHolder(formatHolder(one))).toEqual(one)
      }),
    )
  })

  it('is a line that the definition accepts, and a word alone is none', () => {
    const [, pattern = ''] = /"additionalProperties":\{"type":"string","pattern":"([^"]+)"/.exec(
      JSON.stringify(renderCrd(addressBlockKind)),
    ) as RegExpExecArray
    const accepted = new RegExp(JSON.parse(`"${pattern}"`) as string)
    fc.assert(
      fc.property(holder, (one) => {
        expect(formatHolder(one)).toMatch(accepted)
      }),
    )
    expect('somebody').not.toMatch(accepted)
  })
})
