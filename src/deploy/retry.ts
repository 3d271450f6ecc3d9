/**
 * Retries requests that fail for a passing reason: no API server, no webhook, a kind that is not served yet.
 *
 * Each reason has its own time limit and is emitted as an event; after the limit the server's error is thrown.
 */
import { type ApiError, type ApiErrorKind, isApiError } from '../kube/api-error.ts'
import type { StageContext } from '../run/stage.ts'

export interface RetryPolicy {
  /** How long each kind of error may last, in milliseconds. */
  readonly limits: Readonly<Partial<Record<ApiErrorKind, number>>>
  readonly pauseMs: number
}

const minute = 60_000

export const defaultRetryPolicy: RetryPolicy = {
  limits: {
    unreachable: 5 * minute,
    timeout: 5 * minute,
    busy: 5 * minute,
    failing: 2 * minute,
    webhook: 3 * minute,
    'not-served': 2 * minute,
    terminating: 5 * minute,
    conflict: minute,
  },
  pauseMs: 1_000,
}

const descriptions: Readonly<Partial<Record<ApiErrorKind, string>>> = {
  unreachable: 'the API server does not answer',
  timeout: 'the API server does not answer in time',
  busy: 'the API server asks to slow down',
  failing: 'the API server fails',
  webhook: 'an admission webhook does not serve yet',
  'not-served': 'the kind is not served yet',
  terminating: 'the namespace is still being deleted',
  conflict: 'another client has just written it',
}

/** Repeats the request while its error may pass. Never interrupts an attempt in flight. */
export async function retry<T>(
  request: () => Promise<T>,
  { clock, emit, stop }: StageContext,
  policy: RetryPolicy = defaultRetryPolicy,
): Promise<T> {
  let since: number | undefined
  for (;;) {
    stop.throwIfAborted()
    try {
      return await request()
    } catch (thrown) {
      const limit = isApiError(thrown) ? policy.limits[thrown.kind] : undefined
      if (limit === undefined) throw thrown
      since ??= clock.now()
      if (clock.now() - since >= limit) throw thrown
      emit({ kind: 'waiting', reason: formatReason(thrown as ApiError) })
      await clock.sleep(policy.pauseMs, stop)
    }
  }
}

function formatReason(error: ApiError): string {
  return `${descriptions[error.kind] ?? error.kind}: ${error.findings[0]?.message ?? error.message}`
}
