/** SL407x: updating a cloud to another version of OpenStack. */
import { problem } from '../../errors/finding.ts'

export const noVersion = problem<{ cloud: string; namespace: string }>({
  code: 'SL4070',
  severity: 'error',
  title: 'The cloud has no version to update',
  message: ({ cloud, namespace }) => `namespace ${namespace} of ${cloud} has no OpenStackVersion`,
  remedy: ({ cloud }) => `deploy it first: \`stackloom up --cloud ${cloud}\``,
  description: `The operator creates an OpenStackVersion for each control plane. It has the deployed version, the version that
the operator has images for, and the target. Nothing was changed.`,
  example: { cloud: 'rhoso1', namespace: 'openstack' },
})

export const versionNotAvailable = problem<{ cloud: string; wanted: string; known: readonly string[] }>({
  code: 'SL4071',
  severity: 'error',
  title: 'The operator has no images of this version',
  message: ({ cloud, wanted, known }) =>
    `${cloud} cannot go to ${wanted}: the operator knows ${known.join(', ') || 'no version yet'}`,
  remedy: () => 'update the OpenStack operator first, or choose a version that it knows',
  description: `Images of a version come with the operator. All clouds of a cluster share one operator, but each has its
own version: an update of the operator makes a version available, and changes no cloud. Nothing was changed.`,
  example: { cloud: 'rhoso1', wanted: '0.7.0', known: ['0.6.0'] },
})

export const versionDiffersFromSite = problem<{ cloud: string; wanted: string; written: string }>({
  code: 'SL4072',
  severity: 'warning',
  title: 'The site file has another version',
  message: ({ cloud, wanted, written }) => `${cloud} goes to ${wanted}, but the site file says ${written}`,
  remedy: ({ wanted }) => `write \`version: ${wanted}\` there, or the next \`up\` requests the old one again`,
  description: `\`up\` applies a version in the site file like everything else in it.`,
  example: { cloud: 'rhoso1', wanted: '0.7.0', written: '0.6.0' },
})

export const updateNeedsConsent = problem<{ cloud: string; from: string; to: string }>({
  code: 'SL4073',
  severity: 'error',
  title: 'The update needs consent',
  message: ({ cloud, from, to }) => `${cloud} would go from ${from} to ${to}, and this was not agreed to`,
  remedy: () => "run the same command on a terminal and type the cloud's name, or with --yes",
  description: `An update restarts the services of the control plane and of every host, and there is no way back to the version
before. Nothing was changed.`,
  example: { cloud: 'rhoso1', from: '0.6.0', to: '0.7.0' },
})

export const updateUnderWay = problem<{ cloud: string; target: string; wanted: string }>({
  code: 'SL4074',
  severity: 'error',
  title: 'Another update is under way',
  message: ({ cloud, target, wanted }) =>
    `${cloud} is being updated to ${target}, and cannot go to ${wanted} before that is finished`,
  remedy: ({ target }) => `let it finish first: \`stackloom update --to ${target}\` waits for it`,
  description: `The operator's webhook refuses a new target while the cloud is between two versions. Nothing was changed.`,
  example: { cloud: 'rhoso1', target: '0.6.1', wanted: '0.7.0' },
})
