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
  title: 'The timing of the leader election is invalid',
  message: ({ leaseMs, renewDeadlineMs, retryMs, attemptMs }) =>
    `lease ${leaseMs} ms, renew deadline ${renewDeadlineMs} ms, retry ${retryMs} ms, attempt ${attemptMs} ms: two leaders would be possible`,
  remedy: () =>
    'make the lease longer than the renew deadline, the deadline longer than the retry, and one attempt no longer than the deadline',
  description: `A leader stops when it could not renew within the renew deadline. Another candidate starts when the lease has not
changed for the whole lease duration. The deadline must be shorter, so that no two leaders work at the same time, and must
allow more than one attempt, so that a lost packet does not cost the leadership. 15 s, 10 s and 2 s are good values.`,
  example: { leaseMs: 10_000, renewDeadlineMs: 15_000, retryMs: 2_000, attemptMs: 4_000 },
})

export const leadershipLost = problem<Record<never, never>>({
  code: 'SL1151',
  severity: 'error',
  title: 'The leadership is lost',
  message: () => 'the lease could not be renewed in time, so writes are refused',
  remedy: () => 'nothing: the program exits, is restarted, and becomes a candidate again',
  description: `Of several running operators one is the leader and renews a Lease. When it cannot renew the Lease (the API server
cannot be reached, the machine or the program was paused) it must stop before another one starts, because two leaders could
assign one address twice. It exits and comes back as a candidate.`,
  example: {},
})

export const cannotListen = problem<{ what: string; host: string; port: number; reason: string }>({
  code: 'SL1152',
  severity: 'error',
  title: 'Cannot listen on a port',
  message: ({ what, host, port, reason }) => `cannot serve ${what} on ${host}:${port}: ${reason}`,
  remedy: ({ port }) => `stop the program that uses port ${port} (\`ss -ltnp\` shows it), or choose another port`,
  description: `The port is used by another program, is below 1024 and needs more rights, or the address does not belong to this
machine.`,
  example: { what: 'webhooks', host: '0.0.0.0', port: 9443, reason: 'address already in use' },
})

export const controllersHang = problem<{ names: readonly string[]; graceMs: number }>({
  code: 'SL1153',
  severity: 'warning',
  title: 'A controller did not stop in time',
  message: ({ names, graceMs }) => `${names.join(', ')} still ran ${graceMs} ms after the stop`,
  remedy: () => 'nothing is lost: the next start reconciles everything again',
  description: `At a stop every controller finishes its current reconciles, whose requests are aborted. A controller that waits for
something else is abandoned after the grace period.`,
  example: { names: ['ipset'], graceMs: 30_000 },
})
