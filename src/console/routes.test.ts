import { describe, expect, it } from 'vitest'
import { schemas } from './documents/schemas.ts'
import { streamEvent } from './documents/stream.ts'
import { ACTION_HEADER, documentNames, fillRoute, routes, viewNames } from './routes.ts'

describe('the routes', () => {
  it('encode names from the cluster as one part of the path', () => {
    expect(fillRoute('network', { cloud: '../x?y', network: 'a/b' })).toBe('/api/addresses/..%2Fx%3Fy/a%2Fb')
  })

  it('have a schema each, and every view has a document', () => {
    expect(Object.keys(schemas).sort()).toEqual(
      Object.keys(routes)
        .filter((name) => name !== 'stream')
        .sort(),
    )
    for (const view of viewNames) expect(documentNames).toContain(view === 'run' ? 'runs' : view)
  })

  it('name a header that a form of another site cannot send', () => {
    expect(ACTION_HEADER).toMatch(/^x-/)
  })
})

describe('events of the stream', () => {
  it('are one of the known kinds', () => {
    expect(streamEvent.safeParse({ kind: 'reset', version: 3 }).success).toBe(true)
    expect(streamEvent.safeParse({ kind: 'surprise', version: 3 }).success).toBe(false)
  })
})
