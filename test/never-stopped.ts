/** The signal for a run that nobody stops. */
export function neverStopped(): AbortSignal {
  return new AbortController().signal
}
