import { describe, expect, it } from 'vitest'
import { createEchoes } from './echoes.ts'

const version = (uid: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid, resourceVersion },
})

describe('Echoes', () => {
  it('are the very versions that we wrote, however often they are told', () => {
    const echoes = createEchoes()
    echoes.expect(version('one', '7'))
    expect(echoes.isEcho(version('one', '7'))).toBe(true)
    expect(echoes.isEcho(version('one', '7'))).toBe(true)
  })

  it("are not another's write, nor one of the same version to another object", () => {
    const echoes = createEchoes()
    echoes.expect(version('one', '7'))
    expect(echoes.isEcho(version('one', '8'))).toBe(false)
    expect(echoes.isEcho(version('two', '7'))).toBe(false)
  })

  it('are forgotten in time: those who never come must not fill the memory', () => {
    const echoes = createEchoes()
    for (let n = 0; n <= 10_000; n += 1) echoes.expect(version('one', String(n)))
    expect(echoes.isEcho(version('one', '0'))).toBe(false)
    expect(echoes.isEcho(version('one', '10000'))).toBe(true)
  })
})
