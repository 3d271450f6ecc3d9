import { beforeAll, describe, expect, it, vi } from 'vitest'

interface FakeSource {
  readonly handlers: Map<string, (message: { readonly data: string }) => void>
}

const sources: FakeSource[] = []
const answers: ((body: object) => void)[] = []

function answer(body: object): Response {
  return 'refused' in body ? Response.json({ error: { code: 'SL1302' } }, { status: 500 }) : Response.json(body)
}

beforeAll(() => {
  vi.stubGlobal('location', { hash: '#/topology' })
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('fetch', () => new Promise((resolve) => answers.push((body) => resolve(answer(body)))))
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

  it('are loaded again where they changed between their answer and the begin of the stream', async () => {
    vi.resetModules()
    const { openStream, useDocument } = await import('./store.ts')
    openStream()
    const hello = { data: JSON.stringify({ kind: 'hello', server: 'a', version: 5 }) }
    const from = answers.length
    expect([useDocument('meta'), useDocument('overview'), useDocument('hosts')]).toEqual([{}, {}, {}])
    answers[from]?.({ version: 4 })
    await vi.waitUntil(() => useDocument('meta').value?.version === 4)
    sources.at(-1)?.handlers.get('hello')?.(hello)
    answers[from + 1]?.({ version: 3 })
    answers[from + 2]?.({ version: 5 })
    await vi.waitUntil(() => answers.length === from + 5)
    answers[from + 3]?.({ version: 5 })
    answers[from + 4]?.({ version: 6 })
    await vi.waitUntil(() => useDocument('overview').value?.version === 6)
    expect([useDocument('meta').value?.version, useDocument('hosts').value?.version]).toEqual([5, 5])
    expect(answers.length).toBe(from + 5)
  })

  it('that are outdated are not asked for again at once where the server refuses, but when the stream is back', async () => {
    vi.resetModules()
    const { openStream, useDocument } = await import('./store.ts')
    openStream()
    const handlers = sources.at(-1)?.handlers
    const hello = { data: JSON.stringify({ kind: 'hello', server: 'a', version: 5 }) }
    const from = answers.length
    useDocument('overview')
    answers[from]?.({ version: 4 })
    await vi.waitUntil(() => useDocument('overview').value?.version === 4)
    handlers?.get('hello')?.(hello)
    answers[from + 1]?.({ refused: true })
    await vi.waitUntil(() => useDocument('overview').problem !== undefined)
    expect([useDocument('overview').value?.version, answers.length]).toEqual([4, from + 2])
    handlers?.get('hello')?.(hello)
    expect(answers.length).toBe(from + 3)
    answers[from + 2]?.({ version: 5 })
    await vi.waitUntil(() => useDocument('overview').value?.version === 5)
  })

  it('are loaded again although a later patch arrives with them', async () => {
    vi.resetModules()
    const { openStream, useDocument } = await import('./store.ts')
    openStream()
    const handlers = sources.at(-1)?.handlers
    const from = answers.length
    useDocument('overview')
    handlers?.get('hello')?.({ data: JSON.stringify({ kind: 'hello', server: 'a', version: 5 }) })
    const patch = { kind: 'patch', document: 'overview', version: 6, fields: {} }
    handlers?.get('patch')?.({ data: JSON.stringify(patch) })
    answers[from]?.({ version: 4 })
    await vi.waitUntil(() => answers.length === from + 2)
    answers[from + 1]?.({ version: 6 })
    await vi.waitUntil(() => useDocument('overview').value?.version === 6)
  })
})
