import { describe, expect, it } from 'vitest'
import { FieldsDraft, mergePatch } from './merge.ts'

describe('FieldsDraft', () => {
  it('does not change objects that its fields share', () => {
    const pod = { replicas: 1 }
    const spec: Record<string, unknown> = { nova: { api: pod, scheduler: pod } }
    const draft = new FieldsDraft(spec)
    draft.set(['nova', 'api', 'override', 'type'], () => 'LoadBalancer')
    draft.set(['nova', 'api', 'replicas'], (before) => Number(before) + 1)
    expect(spec).toEqual({
      nova: { api: { replicas: 2, override: { type: 'LoadBalancer' } }, scheduler: { replicas: 1 } },
    })
    expect(pod).toEqual({ replicas: 1 })
  })

  it('passes the existing value to the update', () => {
    const spec: Record<string, unknown> = {}
    const draft = new FieldsDraft(spec)
    for (const item of ['first', 'second']) {
      draft.set(['list', 'items'], (before) => [...((before ?? []) as readonly string[]), item])
    }
    expect(spec).toEqual({ list: { items: ['first', 'second'] } })
  })
})

describe('mergePatch', () => {
  it('merges objects, replaces everything else, and removes by null', () => {
    const rendered = { keep: 1, list: [1, 2], gone: true, deep: { a: 1, b: 2 } }
    expect(mergePatch(rendered, { list: [3], gone: null, deep: { b: 3 } })).toEqual({
      keep: 1,
      list: [3],
      deep: { a: 1, b: 3 },
    })
  })
})
