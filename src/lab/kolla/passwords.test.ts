import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { generateSmallKey } from '../../../test/lab.ts'
import {
  completePasswords,
  formatPasswords,
  hasMissingPasswords,
  isCompleteAsWritten,
  type Passwords,
} from './passwords.ts'
import { passwordKeys } from './release.ts'

let text = ''
beforeAll(async () => {
  text = formatPasswords(await completePasswords({}, generateSmallKey))
})

/** Decides with a YAML parser. */
const isMissing = (some: string): boolean => hasMissingPasswords(parse(some) as Passwords)

describe('isCompleteAsWritten', () => {
  it('accepts the text of formatPasswords', () => {
    expect(isMissing(text)).toBe(false)
    expect(isCompleteAsWritten(text)).toBe(true)
    expect(isCompleteAsWritten(`# mine\n${text}of_another_release: x\n`)).toBe(true)
  })

  it.each('./_-=aZ09'.split(''))('accepts a secret that begins with %s', (first) => {
    const passwords = { ...(parse(text) as Passwords), prometheus_bcrypt_salt: `${first}qSSBO9b9YSVint9lA9Fou` }
    expect(isCompleteAsWritten(formatPasswords(passwords))).toBe(true)
  })

  it('rejects a text in which any key is missing or empty', () => {
    for (const [key, kind] of passwordKeys) {
      const without = text.replace(new RegExp(`^${key}:.*\\n(?:  .*\\n)*`, 'm'), '')
      expect([key, isCompleteAsWritten(without)]).toEqual([key, false])
      if (kind === 'empty') continue
      for (const value of ['', ' null', ' ~', ' ""', ' # later']) {
        const empty = text.replace(new RegExp(`^${key}:.*\\n(?:  .*\\n)*`, 'm'), `${key}:${value}\n`)
        expect([key, value, isCompleteAsWritten(empty)]).toEqual([key, value, false])
      }
    }
  })

  it.each([
    '  - x\n',
    'a: {\n',
    'a: [b\n',
    'a: *b\n',
    'a: "b\n',
    '\tx: 1\n',
    ' x\n',
    'a: |\n',
    'a: b: c\n',
    'a: b\n  private_key: |\n',
    'database_password: x\n',
  ])('rejects a text with %j, so that it is parsed as YAML', (line) => {
    expect(isCompleteAsWritten(text + line)).toBe(false)
  })
})
