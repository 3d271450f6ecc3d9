import { beforeAll, describe, expect, it, vi } from 'vitest'

interface FakeSource {
  readonly handlers: Map<string, (message: { readonly data: string }) => void>
}

const sources: FakeSource[] = []
const answers: ((body: object) => void)[] = []

beforeAll(() => {
  vi.stubGlobal('location', { hash: '#/topology' })
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('fetch', () => new Promise((resolve) => answers.push((body) => resolve(Response.json(body)))))
  vi.stubGlobal(
    'EventSource',
    class {
      static readonly CLOSED = 2
      readonly handlers = new Map<string, (message: { readonly data: string }) => void>()
      constructor() {
        sources.push(this)
      }
      addEventListener(kind: string, handle: (message: { readonly data: string }) => void): void {
        this.handlers.set(kind, handle)
      }
    },
  )
})

describe('the documents of the page', () => {
  it('are loaded once more, not twice at once, when they change while they are being loaded', async () => {
    const { openStream, useDocument } = await import('./store.ts')
    openStream()
    const changed = { data: JSON.stringify({ kind: 'changed', route: 'topology' }) }
    expect(useDocument('topology')).toEqual({})
    for (let count = 0; count < 3; count += 1) sources[0]?.handlers.get('changed')?.(changed)
    expect(answers.length).toBe(1)
    answers[0]?.({ version: 1 })
    await vi.waitUntil(() => answers.length === 2)
    expect(useDocument('topology')).toEqual({ value: { version: 1 } })
    answers[1]?.({ version: 2 })
    await vi.waitUntil(() => useDocument('topology').value?.version === 2)
    expect(answers.length).toBe(2)
  })
})
