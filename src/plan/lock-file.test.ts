import { describe, expect, it } from 'vitest'
import { readLock } from './lock-file.ts'

/** Each level has a thousand times the one below: some kilobytes of text, and 10^12 values. */
function repeatedLock(): string {
  const many = (name: string): string => Array.from({ length: 1_000 }, (_, n) => `n${n}: *${name}`).join(', ')
  return `
apiVersion: stackloom.dev/v1alpha1
kind: SiteLock
site: lab
slots: &addresses [${'"10.0.0.1", '.repeat(1_000)}]
clouds:
  a: &cloud
    namespace: a
    networks:
      x: &network
        interface: eth0
        mtu: 1500
        vips: {${many('addresses')}}
      ${Array.from({ length: 1_000 }, (_, n) => `n${n}: *network`).join('\n      ')}
  ${Array.from({ length: 1_000 }, (_, n) => `c${n}: *cloud`).join('\n  ')}
`
}

describe('a lock from elsewhere', () => {
  it.each([
    ['aliases that repeat whole clouds', repeatedLock()],
    ['a list in itself', '&a [*a]'],
  ])('is refused with %s', (_, text) => {
    expect(readLock(text, 'site.lock.yaml')).toMatchObject({ findings: [{ code: 'SL2404' }] })
  })
})
