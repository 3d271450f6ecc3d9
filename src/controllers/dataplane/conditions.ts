/**
 * Conditions as lib-common has them: Ready first, the rest by type, each with the time of its last change.
 *
 * Pure. `Ready` is made of the others: true when all are, otherwise the worst of them speaks for all.
 */
import type { Condition } from '../../api/object.ts'
import type { Finding } from '../../errors/finding.ts'

/** What is told of one aspect; when it began is found out by comparing. */
export interface Told {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  /** Only where the status is False. */
  readonly severity?: 'Error' | 'Warning' | 'Info'
}

export function isTrue(type: string, message: string): Told {
  return { type, status: 'True', reason: 'Ready', message }
}

/** It goes on by itself: something of ours or of another operator is still to come. */
export function waits(type: string, message: string, reason = 'Requested'): Told {
  return { type, status: 'False', severity: 'Info', reason, message }
}

/** Nobody asked for it. */
export function notRequested(type: string, message: string): Told {
  return { type, status: 'False', severity: 'Info', reason: 'NotRequested', message }
}

/** A person has to do something. */
export function isWrong(type: string, { message, remedy, code }: Finding, reason = 'Error'): Told {
  return { type, status: 'False', severity: 'Error', reason, message: `${message} (${code}: ${remedy})` }
}

export function unknown(type: string, message: string): Told {
  return { type, status: 'Unknown', reason: 'Init', message }
}

const BAD: Readonly<Record<string, number>> = { Error: 0, Warning: 1, Info: 2 }

/** Ready, out of all the others: `done` is what it says when nothing is missing. */
export function readyOf(others: readonly Told[], done: string): Told {
  const bad = others
    .filter(({ status }) => status !== 'True')
    .toSorted((a, b) => rank(a) - rank(b))
    .at(0)
  return bad ? { ...bad, type: 'Ready' } : isTrue('Ready', done)
}

function rank({ status, severity }: Told): number {
  return status === 'Unknown' ? 3 : (BAD[severity ?? ''] ?? 2)
}

/** The list as it is stored: what says the same as before keeps its time. */
export function stamped(
  told: readonly Told[],
  before: readonly Condition[] | undefined,
  now: string,
): readonly Condition[] {
  const known = new Map((before ?? []).map((one) => [one.type, one]))
  const order = (type: string): string => (type === 'Ready' ? '' : type)
  return told
    .toSorted((a, b) => (order(a.type) < order(b.type) ? -1 : 1))
    .map((one) => {
      const old = known.get(one.type)
      const same =
        old?.status === one.status &&
        old.reason === one.reason &&
        old.message === one.message &&
        (old.severity ?? '') === (one.severity ?? '')
      return { ...one, lastTransitionTime: (same && old.lastTransitionTime) || now }
    })
}

export function conditionOf(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((one) => one.type === type)
}
