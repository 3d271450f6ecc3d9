import { describe, expect, it } from 'vitest'
import { findAssignedCredential, findSecretStart, findUrlPasswords } from './credentials.ts'
import { redactLine } from './redact-line.ts'

const passwords = (line: string) => findUrlPasswords(line).map(({ start, end }) => line.slice(start, end))

/** Lines on which an expression that tries every start is quadratic: with it, this file does not end. */
const LENGTH = 1_000_000
const hostile = [
  'a'.repeat(LENGTH),
  'password'.repeat(LENGTH / 8),
  '://a:'.repeat(LENGTH / 5),
  '://'.repeat(LENGTH / 3),
  `password${' '.repeat(LENGTH)}x`,
  `${' '.repeat(LENGTH)}x`,
  '"'.repeat(LENGTH),
]

describe('credentials in a line', () => {
  it.each([
    ['mysql://nova:s3cret@db/nova', ['s3cret']],
    ['a://u:p@h b://:q@h', ['p', 'q']],
    ['http://host:80/path', []],
    ['http://user@host', []],
    ['http://a/b://c:d@e', ['d']],
    ['http://a:b c@d', []],
    ['http://a:b://c:d@e', ['b://c:d']],
    ['', []],
  ])('are the passwords of URLs: %s', (line, expected) => {
    expect(passwords(line)).toEqual(expected)
  })

  it.each([
    ['  ansible_password: "hunter2"', 'hunter2'],
    ['"api_key" = abc', 'abc'],
    ['hosts: a', undefined],
    ['no password here', undefined],
    ['a_TOKEN_b=x y', 'x'],
  ])('are assigned to a name that says so: %s', (line, expected) => {
    expect(findAssignedCredential(line)).toBe(expected)
  })

  it.each([
    ['x = 1; admin_password = abc', 'x = 1; admin_password ='],
    ['the secret word', 'the secret '],
    ['secretary.x', undefined],
    ['passwords, tokens: a', 'passwords, tokens:'],
  ])('may follow a word for a secret: %s', (line, expected) => {
    const start = findSecretStart(line)
    expect(start === undefined ? undefined : line.slice(0, start)).toBe(expected)
  })

  it('are found in a megabyte of hostile text', () => {
    for (const line of hostile) {
      expect(passwords(line)).toEqual([])
      expect(findAssignedCredential(line)).toBeUndefined()
      findSecretStart(line)
      expect(redactLine(line).length).toBeLessThanOrEqual(80)
    }
  })
})
