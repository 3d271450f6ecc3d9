/** The signal for a run that nobody stops. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal
}
