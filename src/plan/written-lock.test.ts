import { readdirSync, readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { planText } from '../../test/site.ts'
import { lockSchema, readLock } from './lock-file.ts'
import { readWrittenLock, writeLock } from './written-lock.ts'

const sites = readdirSync('examples').filter((name) => name.endsWith('.yaml') && !name.startsWith('lab-'))

test.each(sites)('reads the lock of %s as a YAML parser and zod read it', (name) => {
  const { lock } = planText(readFileSync(`examples/${name}`, 'utf8'))
  const text = writeLock(lock)
  const { apiVersion: _, kind: __, ...expected } = lockSchema.parse(load(text))
  expect(JSON.stringify(readWrittenLock(text))).toBe(JSON.stringify(expected))
})

test('leaves a lock with other fields, spaces or line ends to the reader that says what is wrong', () => {
  const text = writeLock(planText(readFileSync('examples/small.yaml', 'utf8')).lock)
  expect(readWrittenLock(text)).toBeDefined()
  for (const changed of [
    text.replace('vlan: 20', 'vlan: 20.5'),
    text.replace('vlan: 20', 'vlans: 20'),
    text.replace('vlan: 20', 'vlan:  20'),
    text.replaceAll('\n', '\r\n'),
    text.replace('# End of the lock.\n', ''),
  ]) {
    expect(changed).not.toBe(text)
    expect(readWrittenLock(changed)).toBeUndefined()
  }
  expect(readLock(text.replace('vlan: 20', 'vlan:  20'), 'site.lock.yaml').lock).toBeDefined()
})
