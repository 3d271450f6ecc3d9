/**
 * Checks a condition when a request is about to be written to its connection, and sends nothing when the check throws.
 *
 * A check before the call is too early: the request may then wait for a connection, be retried, or sleep with its process.
 */
import type { Dispatcher } from 'undici'

/** Throws when nothing may be written any more. */
export type WriteGuard = () => void

export function guardedDispatcher(dispatcher: Dispatcher, guard: WriteGuard): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, guardedHandler(handler, guard)))
}

/** undici calls `onRequestStart` when it has a connection, in the same tick in which it writes the request. */
function guardedHandler(handler: Dispatcher.DispatchHandler, guard: WriteGuard): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => {
      guard()
      handler.onRequestStart?.(...args)
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  }
}
