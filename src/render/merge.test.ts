import { describe, expect, it } from 'vitest'
import { FieldsDraft, mergePatch } from './merge.ts'

describe('a draft', () => {
  it('leaves alone what its fields were made from', () => {
    const pod = { replicas: 1 }
    const spec: Record<string, unknown> = { nova: { api: pod, scheduler: pod } }
    const draft = new FieldsDraft(spec)
    draft.put(['nova', 'api', 'override', 'type'], () => 'LoadBalancer')
    draft.put(['nova', 'api', 'replicas'], (before) => Number(before) + 1)
    expect(spec).toEqual({
      nova: { api: { replicas: 2, override: { type: 'LoadBalancer' } }, scheduler: { replicas: 1 } },
    })
    expect(pod).toEqual({ replicas: 1 })
  })

  it('gives what stands there to whoever adds to it', () => {
    const spec: Record<string, unknown> = {}
    const draft = new FieldsDraft(spec)
    for (const item of ['first', 'second']) {
      draft.put(['list', 'items'], (before) => [...((before ?? []) as readonly string[]), item])
    }
    expect(spec).toEqual({ list: { items: ['first', 'second'] } })
  })
})

describe('raw fields', () => {
  it('merge into objects, replace everything else, and remove by null', () => {
    const rendered = { keep: 1, list: [1, 2], gone: true, deep: { a: 1, b: 2 } }
    expect(mergePatch(rendered, { list: [3], gone: null, deep: { b: 3 } })).toEqual({
      keep: 1,
      list: [3],
      deep: { a: 1, b: 3 },
    })
  })
})
