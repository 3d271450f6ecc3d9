import { expect, it } from 'vitest'
import { manualClock } from '../../test/manual-clock.ts'
import type { KubeObject } from '../api/object.ts'
import { createAuthorize } from './token-review.ts'

/** Knows the tokens `reader` and `stranger`, and lets `reader` get /metrics. */
function start(failing = false) {
  const requests: string[] = []
  const clock = manualClock()
  const create = async (object: KubeObject): Promise<KubeObject> => {
    requests.push(object.kind)
    if (failing) throw new Error('no answer')
    const spec = object['spec'] as { token?: string; user?: string }
    const isKnown = ['reader', 'stranger'].includes(spec.token ?? '')
    if (object.kind === 'TokenReview') {
      return { ...object, status: { authenticated: isKnown, user: { username: spec.token } } }
    }
    return { ...object, status: { allowed: spec.user === 'reader' } }
  }
  return { requests, clock, authorize: createAuthorize({ client: { create }, clock }) }
}

it('lets the API server identify a reader and decide what it may read', async () => {
  const { authorize } = start()
  expect(await authorize('Bearer reader', '/metrics')).toBe('allowed')
  expect(await authorize('Bearer stranger', '/metrics')).toBe('forbidden')
  expect(await authorize('Bearer forged', '/metrics')).toBe('unauthenticated')
})

it('asks nothing without a token, and keeps an answer for a while', async () => {
  const { authorize, requests, clock } = start()
  for (const value of [undefined, '', 'Basic cmVhZGVyOng=', 'Bearer', 'Bearer a b', `Bearer ${'x'.repeat(20_000)}`]) {
    expect(await authorize(value, '/metrics')).toBe('unauthenticated')
  }
  expect(requests).toEqual([])
  await authorize('Bearer reader', '/metrics')
  await authorize('Bearer reader', '/metrics')
  expect(requests).toHaveLength(2)
  clock.advance(31_000)
  await authorize('Bearer reader', '/metrics')
  expect(requests).toHaveLength(4)
})

it('allows nothing while the API server does not answer, and does not keep that', async () => {
  const { authorize, requests } = start(true)
  await expect(authorize('Bearer reader', '/metrics')).rejects.toThrow()
  await expect(authorize('Bearer reader', '/metrics')).rejects.toThrow()
  expect(requests).toHaveLength(2)
})

it('asks for a limited number of tokens at once', async () => {
  const { authorize, requests } = start()
  await Promise.all(Array.from({ length: 200 }, (_, index) => authorize(`Bearer t${index}`, '/metrics')))
  expect(requests.length).toBeLessThanOrEqual(10)
})
