/**
 * The fence: a client whose writes ask first whether we still lead.
 *
 * A program that was stopped for half a minute goes on in the middle of a line; its timers have not fired yet, and
 * somebody else works already. Each write asks first. A pause between the question and the sending lets that one
 * request through, which nothing on this side can prevent: what must never be wrong is written with the version that
 * it was decided on, and the API server refuses it then.
 */
import { failure } from '../errors/failure.ts'
import type { KubeClient } from './client.ts'
import { leadershipLost } from './findings/runtime.ts'

export function leaderFencedClient(client: KubeClient, holds: () => boolean): KubeClient {
  const check = <A extends readonly unknown[], R>(write: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      if (!holds()) throw failure(leadershipLost, {})
      return write(...given)
    }
  }
  return {
    ...client,
    create: check(client.create),
    update: check(client.update),
    apply: check(client.apply),
    patch: check(client.patch),
    delete: check(client.delete),
  }
}
