/** SL115x: running controllers: leadership, certificates, listening. */
import { problem } from '../../errors/finding.ts'

export const leaseTimesWrong = problem<{
  leaseMs: number
  renewDeadlineMs: number
  retryMs: number
  attemptMs: number
}>({
  code: 'SL1150',
  severity: 'error',
  title: 'The times of the leader election contradict each other',
  message: ({ leaseMs, renewDeadlineMs, retryMs, attemptMs }) =>
    `lease ${leaseMs} ms, renew deadline ${renewDeadlineMs} ms, retry ${retryMs} ms, attempt ${attemptMs} ms: no leader could be sure with these`,
  remedy: () =>
    'make the lease longer than the renew deadline, that longer than the retry, and one attempt no longer than the deadline',
  description: `A leader stops when it could not renew within the renew deadline. Another candidate starts when the lease has not
changed for the whole lease time. Only if the first is shorter than the second does nobody work at the same time, and only
if there is time for more than one attempt does a lost packet not cost the leadership. 15 s, 10 s and 2 s are good values.`,
  example: { leaseMs: 10_000, renewDeadlineMs: 15_000, retryMs: 2_000, attemptMs: 4_000 },
})

export const leadershipLost = problem<Record<never, never>>({
  code: 'SL1151',
  severity: 'error',
  title: 'The leadership is lost',
  message: () => 'the lease could not be renewed in time, so nothing more may be written',
  remedy: () => 'nothing: the program ends, is started again, and waits for its turn',
  description: `Of several running operators one works; it proves by a Lease that it is alive. When it cannot renew the Lease (the
API server cannot be reached, the machine or the program stood still) it must stop before another one starts, because two
that work at the same time could give one address twice. It ends itself, and comes back as a candidate.`,
  example: {},
})

export const cannotListen = problem<{ what: string; host: string; port: number; reason: string }>({
  code: 'SL1152',
  severity: 'error',
  title: 'A port cannot be listened on',
  message: ({ what, host, port, reason }) => `cannot serve ${what} on ${host}:${port}: ${reason}`,
  remedy: ({ port }) => `end what uses port ${port} (\`ss -ltnp\` shows it), or choose another port`,
  description: `The port is taken by another program, is below 1024 without the right to use it, or the address is none of this
machine.`,
  example: { what: 'webhooks', host: '0.0.0.0', port: 9443, reason: 'address already in use' },
})

export const controllersHang = problem<{ names: readonly string[]; graceMs: number }>({
  code: 'SL1153',
  severity: 'warning',
  title: 'A controller did not stop in time',
  message: ({ names, graceMs }) => `${names.join(', ')} still worked ${graceMs} ms after being told to stop`,
  remedy: () => 'nothing is lost: the next start looks at everything again',
  description: `On a stop every controller finishes what it is at, and is told to hurry. One that waits for something that does
not come is left behind when the time is over.`,
  example: { names: ['ipset'], graceMs: 30_000 },
})
