import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeDollars, expandReferences, findReferences } from './substitute.ts'

const options = new Map([
  ['my_ip', '192.0.2.1'],
  ['libvirt.virt_type', 'kvm'],
])
const lookup = (name: string): string | undefined => options.get(name)

describe('expandReferences', () => {
  it('inserts another option, of this or of a named group', () => {
    expect(findReferences('$my_ip:${libvirt.virt_type}$')).toEqual(['my_ip', 'libvirt.virt_type'])
    expect(expandReferences('http://$my_ip/', lookup)).toEqual({ kind: 'value', value: 'http://192.0.2.1/' })
  })

  it('reads a dollar sign literally when it is doubled, escaped, or followed by no name', () => {
    for (const text of ['$$my_ip', '\\$my_ip', '5$', '$1', '${}']) expect(findReferences(text)).toEqual([])
    expect(expandReferences('a$$b\\$c$', lookup)).toEqual({ kind: 'value', value: 'a$b$c$' })
  })

  it('names the option that does not exist', () => {
    expect(expandReferences('$my_ip pa$sword', lookup)).toEqual({ kind: 'unknown-option', name: 'sword' })
  })

  it('can be avoided for any text with escapeDollars', () => {
    const text = fc.string({ unit: fc.constantFrom('$', '\\', 'a', '{', '}', '.', '1') })
    fc.assert(
      fc.property(text, (literal) => {
        expect(expandReferences(escapeDollars(literal), lookup)).toEqual({ kind: 'value', value: literal })
      }),
    )
  })
})
