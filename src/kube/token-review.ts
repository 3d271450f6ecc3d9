/**
 * Lets the API server decide which users may read a page of this program: authentication by TokenReview, authorization by
 * SubjectAccessReview on the path, as for the endpoints of every Kubernetes component.
 *
 * Answers are kept for a short time, so that a scraper costs no requests and a flood of tokens few.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../clock/clock.ts'
import type { KubeClient } from './client.ts'

export type Access = 'allowed' | 'unauthenticated' | 'forbidden'

/** For the value of the Authorization header and the path. */
export type Authorize = (authorization: string | undefined, path: string) => Promise<Access>

export interface TokenReviewOptions {
  readonly client: Pick<KubeClient, 'create'>
  readonly clock: Clock
  readonly keepMs?: number
}

const KEEP_MS = 30_000
/** Each entry is a digest and an answer. */
const MAX_KEPT = 1000
/** Further questions are refused while so many wait for the API server. */
const MAX_PENDING = 10
const MAX_HEADER_LENGTH = 16_384

interface Kept {
  readonly answer: Promise<Access>
  readonly until: number
}

export function createAuthorize({ client, clock, keepMs = KEEP_MS }: TokenReviewOptions): Authorize {
  const kept = new Map<string, Kept>()
  let pending = 0
  return async (authorization, path) => {
    const header = authorization && authorization.length <= MAX_HEADER_LENGTH ? authorization : ''
    const [, token] = /^Bearer ([\w.~+/=-]+)$/i.exec(header) ?? []
    if (token === undefined) return 'unauthenticated'
    const key = createHash('sha256').update(`${path} ${token}`).digest('base64')
    const known = kept.get(key)
    if (known && known.until > clock.elapsed()) return known.answer
    if (pending >= MAX_PENDING) return 'unauthenticated'
    pending += 1
    const answer = askServer(client, token, path).finally(() => {
      pending -= 1
    })
    kept.delete(key)
    kept.set(key, { answer, until: clock.elapsed() + keepMs })
    const [oldest] = kept.size > MAX_KEPT ? kept.keys() : []
    if (oldest !== undefined) kept.delete(oldest)
    // An API server that did not answer is asked again by the next request.
    answer.catch(() => kept.delete(key))
    return answer
  }
}

interface User {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
}

async function askServer(client: Pick<KubeClient, 'create'>, token: string, path: string): Promise<Access> {
  const metadata = { name: '' }
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata, spec: { token } }
  const { status = {} } = (await client.create(review)) as {
    readonly status?: { readonly authenticated?: boolean; readonly user?: User }
  }
  if (!status.authenticated || !status.user) return 'unauthenticated'
  const { username, uid, groups } = status.user
  const access = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata,
    spec: { user: username, uid, groups, nonResourceAttributes: { path, verb: 'get' } },
  }
  const { status: decision = {} } = (await client.create(access)) as {
    readonly status?: { readonly allowed?: boolean }
  }
  return decision.allowed ? 'allowed' : 'forbidden'
}
