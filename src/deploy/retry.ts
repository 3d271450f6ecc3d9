/**
 * Bounded patience: an API server that is away, a webhook that does not answer yet, a kind that is not served yet.
 *
 * Each is ridden out for a while and shown as what it is; then it is a failure with the server's own words.
 */
import { type ApiError, type ApiErrorKind, isApiError } from '../kube/api-error.ts'
import type { StageContext } from '../run/stage.ts'

export interface RetryPolicy {
  /** How long each kind of trouble may last, in milliseconds. */
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
  conflict: 'somebody else has just written it',
}

/** Does it, again and again while the trouble is of a kind that passes. Never interrupts an attempt in flight. */
export async function retry<T>(
  act: () => Promise<T>,
  { clock, emit, stop }: StageContext,
  patience: RetryPolicy = defaultRetryPolicy,
): Promise<T> {
  let since: number | undefined
  for (;;) {
    stop.throwIfAborted()
    try {
      return await act()
    } catch (thrown) {
      const limit = isApiError(thrown) ? patience.limits[thrown.kind] : undefined
      if (limit === undefined) throw thrown
      since ??= clock.now()
      if (clock.now() - since >= limit) throw thrown
      emit({ kind: 'waiting', reason: formatReason(thrown as ApiError) })
      await clock.sleep(patience.pauseMs, stop)
    }
  }
}

function formatReason(error: ApiError): string {
  const what = descriptions[error.kind] ?? error.kind
  return `${what}: ${error.findings[0]?.message ?? error.message}`
}
