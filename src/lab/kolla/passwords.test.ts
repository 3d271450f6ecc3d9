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

/** What YAML says, which is what counts. */
const lacks = (some: string): boolean => hasMissingPasswords(parse(some) as Passwords)

describe('passwords.yml', () => {
  it('is seen to be complete as we write it, without reading YAML', () => {
    expect(lacks(text)).toBe(false)
    expect(isCompleteAsWritten(text)).toBe(true)
    expect(isCompleteAsWritten(`# mine\n${text}of_another_release: x\n`)).toBe(true)
  })

  it.each('./_-=aZ09'.split(''))('is seen to be complete with a secret that begins with %s', (first) => {
    const read = { ...(parse(text) as Passwords), prometheus_bcrypt_salt: `${first}qSSBO9b9YSVint9lA9Fou` }
    expect(isCompleteAsWritten(formatPasswords(read))).toBe(true)
  })

  it('is never said to be complete when any key is missing, empty or nothing', () => {
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
  ])('with %j in it is left to a reader of YAML', (line) => {
    expect(isCompleteAsWritten(text + line)).toBe(false)
  })
})
