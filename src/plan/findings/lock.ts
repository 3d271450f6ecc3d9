/** SL24xx: the lock, and what would move against it. */
import { problem } from '../../errors/finding.ts'

export const lockConflict = problem<{ a: string; b: string; what: string }>({
  code: 'SL2401',
  severity: 'error',
  title: 'Two owners hold one value in the lock',
  message: ({ a, b, what }) => `the lock gives ${what} to ${a} and to ${b}`,
  remedy: ({ b }) =>
    `remove the entry of the owner that is not deployed yet (probably ${b}) from the lock, and plan again`,
  description: `Two branches each planned a new cloud, each took the lowest free value, and git merged both locks without a
conflict. One of them has to take another value: the one that is not deployed yet.`,
  example: { a: 'rhoso3/internalapi', b: 'rhoso4/internalapi', what: 'VLAN 34 of NIC main' },
})

export const wouldMove = problem<{ owner: string; cloud: string; summary: string }>({
  code: 'SL2402',
  severity: 'error',
  title: 'The plan would move an address, subnet, VLAN or namespace',
  message: ({ owner, summary }) => `${owner} would move: ${summary}`,
  remedy: ({ cloud }) => `undo the change, or move it on purpose: stackloom plan --allow-move ${cloud}`,
  description: `What the lock has stays. Machines, certificates, DNS and firewalls depend on these addresses, and moving one
interrupts a service. The finding names each address, old and new. \`--allow-move NAME\` moves one cloud
(or one network: \`--allow-move rhoso1/storage\`); \`plan --diff\` says what each change costs.`,
  example: {
    owner: 'rhoso1/internalapi',
    cloud: 'rhoso1',
    summary: 'subnet 172.17.0.0/24 -> 172.27.0.0/24 and 8 addresses',
  },
})

export const lockOutdated = problem<{ count: number; first: string }>({
  code: 'SL2403',
  severity: 'error',
  title: 'The plan has decisions that the lock lacks',
  message: ({ count, first }) => `--locked is set, and the lock lacks ${count} decisions: ${first}`,
  remedy: () => 'run `stackloom plan` without --locked, and commit the lock',
  description: `\`--locked\` is for pipelines: what is deployed is exactly what was reviewed. A lock that lacks a decision is
out of date.`,
  example: { count: 12, first: 'rhoso3/internalapi subnet 172.17.2.0/24' },
})

export const lockUnreadable = problem<{ file: string; reason: string }>({
  code: 'SL2404',
  severity: 'error',
  title: 'The lock cannot be used',
  message: ({ file, reason }) => `${file} is not a lock that this version can use: ${reason}`,
  remedy: () => 'restore it from git; without it, the planner does not know what it must not move',
  description: `The lock is written by Stackloom only. If it was edited or merged manually, take the version of the branch that
is deployed and run \`stackloom plan\` again. Never delete it to make an error go away: everything would be planned
again.`,
  example: { file: 'site.lock.yaml', reason: 'clouds.rhoso1.namespace: expected string' },
})

export const cloudLeaving = problem<{ what: string; name: string }>({
  code: 'SL2405',
  severity: 'info',
  title: 'A cloud, network or host left the site file, and its addresses stay reserved',
  message: ({ what }) => `${what} is no longer in the site file; its addresses and VLANs stay reserved`,
  remedy: ({ name }) =>
    `take it down (\`stackloom down --cloud NAME\`), or \`stackloom plan --forget ${name}\` if it is gone`,
  description: `A cloud, a network or a host that was removed from the file may still run. Until it is taken down, or
forgotten on purpose, its VLANs and addresses are not assigned again.`,
  example: { what: 'cloud rhoso2', name: 'rhoso2' },
})

export const forgetPresent = problem<{ name: string }>({
  code: 'SL2406',
  severity: 'error',
  title: 'What is to be forgotten is still in the site file',
  message: ({ name }) => `${name} cannot be forgotten: it is in the site file`,
  remedy: ({ name }) => `remove ${name} from the site file first; to renumber it, use --allow-move ${name}`,
  description: `\`--forget\` frees the addresses of a cloud, network or host that is gone. What is in the file is not gone.`,
  example: { name: 'rhoso1' },
})

export const unknownName = problem<{ option: string; name: string; nearest: string | undefined }>({
  code: 'SL2407',
  severity: 'error',
  title: 'An option names no cloud, network or host',
  message: ({ option, name, nearest }) =>
    `${option} ${name}: neither the site nor its lock has this name${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'name a cloud (`rhoso1`), one of its networks (`rhoso1/storage`) or hosts (`rhoso1/compute-0`)',
  description: `Moving and forgetting are done by name, so that nothing else moves or is forgotten.`,
  example: { option: '--forget', name: 'roso2', nearest: 'rhoso2' },
})

export const lockOtherSite = problem<{ site: string; locked: string }>({
  code: 'SL2408',
  severity: 'error',
  title: 'The lock belongs to another site',
  message: ({ site, locked }) => `the site is ${site}, and the lock belongs to ${locked}`,
  remedy: () => 'use the lock of this site (`--lock FILE`), or rename the site back',
  description: `A lock pins the decisions of one site. Used with another site it would pin nothing and hide every move.`,
  example: { site: 'lab', locked: 'production' },
})

export const slotsChanged = problem<{ locked: string; used: string; added: string; removed: string }>({
  code: 'SL2409',
  severity: 'warning',
  title: 'The control plane CRD differs from the one in the lock',
  message: ({ locked, used, added, removed }) =>
    `the lock was made for the CRD ${locked}, this plan uses ${used}${added ? `; new slots: ${added}` : ''}${removed ? `; gone: ${removed}` : ''}`,
  remedy: () => 'review the slots (`stackloom slots`); the new table is recorded when the plan is written',
  description: `Which Services a control plane has depends on its CRD. The lock records the table that VIPs were planned for;
a new operator version may add slots (they get an address) or drop some (theirs stays held).`,
  example: { locked: 'sha256:1f2e', used: 'sha256:9c0d', added: 'watcher.template', removed: '' },
})
