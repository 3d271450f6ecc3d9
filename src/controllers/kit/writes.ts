/** Writes that somebody else may have done first: that is no failure, and the watch will tell what became of it. */
import { type ApiErrorKind, isApiError } from '../../kube/api-error.ts'
import type { Reconcile } from '../../kube/controller.ts'

const CONFLICT_DELAY_MS = 100

/** A look that comes again, soon and not all at once, when another one was quicker. */
export function requeueOnConflict(
  look: Reconcile,
  calm: readonly ApiErrorKind[] = ['conflict', 'already-exists'],
): Reconcile {
  return async (request, context) => {
    try {
      return await look(request, context)
    } catch (error) {
      if (!isApiError(error, ...calm)) throw error
      return { requeueAfterMs: CONFLICT_DELAY_MS * (1 + context.clock.random()) }
    }
  }
}

/** What is gone already needs no more work. */
export async function ignoreNotFound(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!isApiError(error, 'not-found')) throw error
  }
}
