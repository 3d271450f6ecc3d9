/** SL24xx: the lock, and what would move against it. */
import { problem } from '../../errors/finding.ts'
import type { HolderKind } from '../lock.ts'

export const lockConflict = problem<{ a: string; b: string; what: string }>({
  code: 'SL2401',
  severity: 'error',
  message: ({ a, b, what }) => `the lock gives ${what} to ${a} and to ${b}`,
  remedy: ({ b }) =>
    `remove the entry of the owner that is not deployed yet (probably ${b}) from the lock, and plan again`,
})

export const wouldMove = problem<{ owner: string; cloud: string; summary: string }>({
  code: 'SL2402',
  severity: 'error',
  message: ({ owner, summary }) => `${owner} would move: ${summary}`,
  remedy: ({ cloud }) => `undo the change, or move it on purpose: \`stackloom plan --allow-move ${cloud}\``,
})

export const lockOutdated = problem<{ missing: string; left: string }>({
  code: 'SL2403',
  severity: 'error',
  message: ({ missing, left }) => {
    const parts = [missing && `it lacks ${missing}`, left && `it still has ${left}`].filter(Boolean)
    return `the lock is not up to date: ${parts.join(', and ')}`
  },
  remedy: () => 'run `stackloom plan` without --check and --locked, and commit the lock',
})

export const lockUnreadable = problem<{ file: string; reason: string }>({
  code: 'SL2404',
  severity: 'error',
  message: ({ file, reason }) => `${file} is not a lock that this version can use: ${reason}`,
  remedy: () => 'restore it from git; without it, the planner does not know what it must not move',
})

type LeavingKind = 'cloud' | 'network' | HolderKind

const leavingWords: Readonly<Record<LeavingKind, string>> = {
  cloud: 'cloud',
  network: 'network',
  vips: 'VIP',
  nodes: 'node',
  hosts: 'host',
  endpoints: 'endpoint',
}

export const cloudLeaving = problem<{ kind: LeavingKind; name: string }>({
  code: 'SL2405',
  severity: 'info',
  message: ({ kind, name }) =>
    `${leavingWords[kind]} ${name} is no longer in the site file; what the lock has for it stays reserved`,
  remedy: ({ kind, name }) => {
    const forget = `when it is gone, free its addresses: \`stackloom plan --forget ${name}\``
    if (kind === 'cloud') return `take it down (\`stackloom down --cloud ${name}\`); ${forget}`
    if (kind === 'hosts')
      return `take it out (\`stackloom hosts remove ${name.slice(name.indexOf('/') + 1)}\`); ${forget}`
    return forget
  },
})

export const forgetPresent = problem<{ name: string }>({
  code: 'SL2406',
  severity: 'error',
  message: ({ name }) => `${name} cannot be forgotten: it is in the site file`,
  remedy: ({ name }) => `remove ${name} from the site file first; to renumber it, use --allow-move ${name}`,
})

export const unknownName = problem<{ option: string; name: string; nearest: string | undefined }>({
  code: 'SL2407',
  severity: 'error',
  message: ({ option, name, nearest }) =>
    `${option} ${name}: neither the site nor its lock has this name${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'name a cloud (`rhoso1`), one of its networks (`rhoso1/storage`) or hosts (`rhoso1/compute-0`)',
})

export const lockOtherSite = problem<{ site: string; locked: string }>({
  code: 'SL2408',
  severity: 'error',
  message: ({ site, locked }) => `the site is ${site}, and the lock belongs to ${locked}`,
  remedy: () => 'use the lock of this site (`--lock FILE`), or rename the site back',
})

export const slotsChanged = problem<{ locked: string; used: string; added: string; removed: string }>({
  code: 'SL2409',
  severity: 'warning',
  message: ({ locked, used, added, removed }) =>
    `the lock was made for the control plane CRD of ${locked}, this plan uses that of ${used}${added ? `; new slots: ${added}` : ''}${removed ? `; gone: ${removed}` : ''}`,
  remedy: () =>
    'review the slots (`stackloom slots -f site.yaml`) and what would be applied (`stackloom diff`); the new table is recorded when the plan is written',
})

export const lockChanged = problem<{ file: string }>({
  code: 'SL2410',
  severity: 'error',
  message: ({ file }) => `${file} was changed by another process after it was read; nothing was written`,
  remedy: () => 'run the command again: it plans around what the other run decided',
})

export const cellChanged = problem<{ cloud: string; host: string; from: string; to: string }>({
  code: 'SL2411',
  severity: 'error',
  message: ({ cloud, host, from, to }) => `${cloud}/${host} would move from ${from} to ${to}`,
  remedy: ({ cloud, host, from }) =>
    `set its cell back to ${from}; to move it, take the host out of the file and the cloud, run \`stackloom plan --forget ${cloud}/${host}\`, and add it again`,
})

export const cloudRenamed = problem<{ cloud: string; old: string; namespace: string }>({
  code: 'SL2412',
  severity: 'error',
  message: ({ cloud, old, namespace }) =>
    `${cloud} has the namespace ${namespace} of ${old}, which is no longer in the site file`,
  remedy: ({ cloud, old }) =>
    `name it ${old} again, or give ${cloud} another namespace; once ${old} is taken down, run \`stackloom plan --forget ${old}\``,
})

export const settingWithoutEffect = problem<{ setting: string; value: string; kept: string; more: number }>({
  code: 'SL2413',
  severity: 'info',
  message: ({ setting, value, kept, more }) =>
    `${setting} is ${value} and has no effect on what is locked: ${kept}${more > 0 ? ` and ${more} more` : ''}`,
  remedy: () =>
    'nothing to do if only new networks are to follow it; to change a deployed one, pin its new value; if nothing of this site is deployed yet, delete the lock and plan again',
})
