/** SL405x, SL4066: adopting a cloud that another tool deployed. */
import { problem } from '../../errors/finding.ts'

export const nothingToAdopt = problem<{ cloud: string; namespace: string }>({
  code: 'SL4050',
  severity: 'error',
  message: ({ cloud, namespace }) =>
    `namespace ${namespace} of ${cloud} has neither a control plane nor a LoadBalancer Service`,
  remedy: () => 'check the namespace in the site file; a cloud that does not exist yet is deployed by `stackloom up`',
})

export const planMovesVip = problem<{ slot: string; service: string; planned: string; live: string }>({
  code: 'SL4051',
  severity: 'error',
  message: ({ slot, service, planned, live }) =>
    `the plan gives ${slot} the address ${planned}, but Service ${service} has ${live}`,
  remedy: ({ slot, live }) => `pin it in the site file: \`vips: {${slot}: ${live}}\`, or import the cloud again`,
})

export const addressOutsidePlan = problem<{ service: string; address: string; ranges: readonly string[] }>({
  code: 'SL4052',
  severity: 'error',
  message: ({ service, address, ranges }) =>
    `Service ${service} has ${address}, which is in none of the planned pools (${ranges.join(', ')})`,
  remedy: () => 'widen the `vips` span of its network in the site file so that it includes the address',
})

export const foreignServiceInPool = problem<{ service: string; address: string; pool: string }>({
  code: 'SL4053',
  severity: 'error',
  message: ({ service, address, pool }) =>
    `Service ${service} has ${address}, which will belong to pool ${pool} of another namespace`,
  remedy: () => 'give that Service another pool or delete it, then run the same command',
})

export const controlPlaneNameDiffers = problem<{ namespace: string; name: string; ours: string }>({
  code: 'SL4054',
  severity: 'warning',
  message: ({ namespace, name, ours }) => `the control plane of ${namespace} is called ${name}, not ${ours}`,
  remedy: () =>
    'leave it to the tool that created it: write `keep: [control-plane]` into the cloud in the site file before `stackloom up`',
})

export const attachmentKept = problem<{ attachment: string; what: string; kept: boolean }>({
  code: 'SL4055',
  severity: 'warning',
  message: ({ attachment, what }) => `${attachment} stays as it is: ${what}`,
  remedy: ({ kept }) =>
    kept
      ? 'change it only when no pod of this network runs: whereabouts would forget the addresses of running pods'
      : 'write `keep: [attachments]` into the cloud in the site file before `stackloom up`: a change would make whereabouts forget the addresses of running pods',
})

export const oldObjectKept = problem<{ object: string; why: string }>({
  code: 'SL4056',
  severity: 'info',
  message: ({ object, why }) => `${object} stays: ${why}`,
  remedy: () => 'remove it manually when it is no longer needed',
})

export const adoptionNeedsConsent = problem<{ cloud: string; networks: readonly string[] }>({
  code: 'SL4057',
  severity: 'error',
  message: ({ cloud, networks }) =>
    `adopting ${cloud} interrupts the addresses of ${networks.join(', ') || 'no network'} for a moment, and this was not confirmed`,
  remedy: () => "run the same command on a terminal and type the cloud's name, or with --yes",
})

export const addressNotRestored = problem<{ service: string; address: string; said: string }>({
  code: 'SL4058',
  severity: 'error',
  message: ({ service, address, said }) => `Service ${service} waits for ${address}${said ? `: ${said}` : ''}`,
  remedy: () => "look at the Service's events and at MetalLB's controller, then run the same command: it resumes",
})

export const slotNotPlanned = problem<{ service: string; path: string }>({
  code: 'SL4059',
  severity: 'warning',
  message: ({ service, path }) => `Service ${service} (${path}) keeps its address, but the site file does not plan it`,
  remedy: () => 'enable its service in the site file, so that the address is in the lock',
})

export const oldPolicyStays = problem<{ policy: string; interfaces: readonly string[] }>({
  code: 'SL4066',
  severity: 'info',
  message: ({ policy, interfaces }) =>
    `NodeNetworkConfigurationPolicy ${policy} configures ${interfaces.slice(0, 8).join(', ')}${interfaces.length > 8 ? ', …' : ''}, as the plan does`,
  remedy: () =>
    'delete it after `stackloom up` has succeeded: nodes keep their interfaces, and two policies would overwrite each other',
})
