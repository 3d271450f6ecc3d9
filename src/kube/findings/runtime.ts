/** SL115x: running controllers: leader election, ports, shutdown. */
import { problem } from '../../errors/finding.ts'

export const leaseTimesWrong = problem<{
  leaseMs: number
  renewDeadlineMs: number
  retryMs: number
  attemptMs: number
}>({
  code: 'SL1150',
  severity: 'error',
  message: ({ leaseMs, renewDeadlineMs, retryMs, attemptMs }) =>
    `lease ${leaseMs} ms, renew deadline ${renewDeadlineMs} ms, retry ${retryMs} ms, attempt ${attemptMs} ms: two leaders would be possible`,
  remedy: () =>
    'make the lease longer than the renew deadline, the deadline longer than the retry, and one attempt no longer than the deadline',
})

export const leadershipLost = problem<Record<never, never>>({
  code: 'SL1151',
  severity: 'error',
  message: () => 'the lease could not be renewed in time, so writes are refused',
  remedy: () => 'nothing: the program exits, is restarted, and becomes a candidate again',
})

export const cannotListen = problem<{ what: string; host: string; port: number; reason: string }>({
  code: 'SL1152',
  severity: 'error',
  message: ({ what, host, port, reason }) => `cannot serve ${what} on ${host}:${port}: ${reason}`,
  remedy: ({ port }) => `stop the program that uses port ${port} (\`ss -ltnp\` shows it), or choose another port`,
})

export const controllersHang = problem<{ names: readonly string[]; graceMs: number }>({
  code: 'SL1153',
  severity: 'warning',
  message: ({ names, graceMs }) => `${names.join(', ')} still ran ${graceMs} ms after the stop`,
  remedy: () => 'nothing is lost: the next start reconciles everything again',
})
