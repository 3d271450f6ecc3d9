import { describe, expect, it } from 'vitest'
import { createOwnWrites } from './echoes.ts'

const version = (uid: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid, resourceVersion },
})

describe('Echoes', () => {
  it('are the very versions that we wrote, however often they are told', () => {
    const echoes = createOwnWrites()
    echoes.add(version('one', '7'))
    expect(echoes.has(version('one', '7'))).toBe(true)
    expect(echoes.has(version('one', '7'))).toBe(true)
  })

  it("are not another's write, nor one of the same version to another object", () => {
    const echoes = createOwnWrites()
    echoes.add(version('one', '7'))
    expect(echoes.has(version('one', '8'))).toBe(false)
    expect(echoes.has(version('two', '7'))).toBe(false)
  })

  it('are forgotten in time: those who never come must not fill the memory', () => {
    const echoes = createOwnWrites()
    for (let n = 0; n <= 10_000; n += 1) echoes.add(version('one', String(n)))
    expect(echoes.has(version('one', '0'))).toBe(false)
    expect(echoes.has(version('one', '10000'))).toBe(true)
  })
})
