/** Tells whether a process of this machine runs, for files that name the process that uses them. */

export function isRunning(processId: number): boolean {
  if (!Number.isSafeInteger(processId) || processId <= 0) return false
  try {
    process.kill(processId, 0)
    return true
  } catch (thrown) {
    // EPERM: it runs, and belongs to another user.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}
