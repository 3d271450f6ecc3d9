/** SL407x: updating a cloud to another version of OpenStack. */
import { problem } from '../../errors/finding.ts'

export const noVersion = problem<{ cloud: string; namespace: string }>({
  code: 'SL4070',
  severity: 'error',
  message: ({ cloud, namespace }) => `namespace ${namespace} of ${cloud} has no OpenStackVersion`,
  remedy: ({ cloud }) => `deploy it first: \`stackloom up --cloud ${cloud}\``,
})

export const versionNotAvailable = problem<{ cloud: string; wanted: string; known: readonly string[] }>({
  code: 'SL4071',
  severity: 'error',
  message: ({ cloud, wanted, known }) =>
    `${cloud} cannot go to ${wanted}: the operator knows ${known.join(', ') || 'no version yet'}`,
  remedy: () => 'update the OpenStack operator first, or choose a version that it knows',
})

export const versionDiffersFromSite = problem<{ cloud: string; wanted: string; written: string }>({
  code: 'SL4072',
  severity: 'warning',
  message: ({ cloud, wanted, written }) => `${cloud} goes to ${wanted}, but the site file says ${written}`,
  remedy: ({ wanted }) => `write \`version: ${wanted}\` there, or the next \`up\` requests the old one again`,
})

export const updateNeedsConsent = problem<{ cloud: string; from: string; to: string }>({
  code: 'SL4073',
  severity: 'error',
  message: ({ cloud, from, to }) => `${cloud} would be updated from ${from} to ${to}, and this was not confirmed`,
  remedy: () => "run the same command on a terminal and type the cloud's name, or with --yes",
})

export const updateUnderWay = problem<{ cloud: string; target: string; wanted: string }>({
  code: 'SL4074',
  severity: 'error',
  message: ({ cloud, target, wanted }) =>
    `${cloud} is being updated to ${target}, and cannot go to ${wanted} before that is finished`,
  remedy: ({ target }) => `let it finish first: \`stackloom update --to ${target}\` waits for it`,
})
