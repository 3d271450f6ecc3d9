import { afterEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../../test/manual-clock.ts'
import type { ConsoleBackend } from '../backend.ts'
import { type CallerSessions, createCallerSessions } from './caller-sessions.ts'

let sessions: CallerSessions | undefined
afterEach(() => sessions?.close())

/** Accepts every token that begins with `good`; records what was opened and closed. */
function create(more: { readonly maxSessions?: number; readonly isUsed?: () => boolean } = {}) {
  const clock = manualClock()
  const opened: string[] = []
  const closed: string[] = []
  const revoked = new Set<string>()
  const end = new AbortController()
  sessions = createCallerSessions({
    clock,
    signal: end.signal,
    ...(more.maxSessions !== undefined && { maxSessions: more.maxSessions }),
    open: async (token) => {
      if (!token.startsWith('good')) return undefined
      opened.push(token)
      return {
        backend: { actions: () => [], name: token } as unknown as ConsoleBackend,
        isUsed: more.isUsed ?? (() => false),
        isAccepted: async () => !revoked.has(token),
        close: async () => void closed.push(token),
      }
    },
  })
  const find = async (headers: Readonly<Record<string, string>>) => sessions?.find((name) => headers[name])
  return { find, opened, closed, revoked, clock, sessions }
}

describe('sessions of callers', () => {
  it.each([
    {},
    { authorization: 'Bearer bad' },
    { authorization: 'Basic Z29vZA==' },
    { authorization: 'Bearer good token' },
    { 'x-forwarded-access-token': 'good\r\nx: y' },
  ])('refuse the headers %j', async (headers) => {
    const { find } = create()
    expect(await find(headers)).toMatchObject({ kind: 'refuse', status: 401, finding: { code: 'SL1309' } })
  })

  it('are one per token, from both headers', async () => {
    const { find, opened } = create()
    const [first, second] = await Promise.all([
      find({ authorization: 'Bearer good-1' }),
      find({ 'x-forwarded-access-token': 'good-1' }),
    ])
    expect(opened).toEqual(['good-1'])
    expect(first).toEqual(second)
    expect(await find({ authorization: 'Bearer good-2' })).not.toEqual(first)
  })

  it.each(['cross-site', 'same-site', 'unknown'])(
    'refuse requests that a page of a %s makes the browser send',
    async (site) => {
      const { find, opened } = create()
      const headers = { authorization: 'Bearer good-1', 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' }
      expect(await find(headers)).toMatchObject({ kind: 'refuse', status: 403 })
      expect(opened).toEqual([])
    },
  )

  it('end the one unused for longest when there are too many, and all at the end', async () => {
    const { find, closed, sessions: all } = create({ maxSessions: 2 })
    for (const number of [1, 2, 3]) await find({ authorization: `Bearer good-${number}` })
    expect(closed).toEqual(['good-1'])
    expect(all?.count()).toBe(2)
    await all?.close()
    expect(closed).toEqual(['good-1', 'good-2', 'good-3'])
  })

  it('are not ended by tokens that the API server refuses, however many come at once', async () => {
    const { find, closed, sessions: all } = create({ maxSessions: 2 })
    for (const number of [1, 2]) await find({ authorization: `Bearer good-${number}` })
    const bad = await Promise.all(Array.from({ length: 100 }, (_, n) => find({ authorization: `Bearer bad-${n}` })))
    expect(closed).toEqual([])
    expect(all?.count()).toBe(2)
    expect(new Set(bad.map((answer) => answer?.kind === 'refuse' && answer.status))).toEqual(new Set([401, 503]))
  })

  it('never exceed their number, also when many callers come at once', async () => {
    const { find, opened, closed, sessions: all } = create({ maxSessions: 2 })
    await Promise.all(Array.from({ length: 100 }, (_, n) => find({ authorization: `Bearer good-${n}` })))
    expect(all?.count()).toBe(2)
    expect(opened.length - closed.length).toBe(2)
    expect(opened.length).toBeLessThanOrEqual(16)
  })

  it('end when the API server no longer accepts their token, also with an open stream', async () => {
    const { find, closed, revoked, clock, sessions: all } = create({ isUsed: () => true })
    await find({ authorization: 'Bearer good-1' })
    await clock.settle(200_000)
    expect(all?.count()).toBe(1)
    revoked.add('good-1')
    await clock.settle(100_000)
    expect(closed).toEqual(['good-1'])
  })

  it('keep no session for a token that was refused', async () => {
    const { find, sessions: all } = create()
    await find({ authorization: 'Bearer bad' })
    expect(all?.count()).toBe(0)
  })
})
