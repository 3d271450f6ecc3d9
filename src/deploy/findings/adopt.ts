/** SL405x: adopting a cloud that another tool deployed. */
import { problem } from '../../errors/finding.ts'

export const nothingToAdopt = problem<{ cloud: string; namespace: string }>({
  code: 'SL4050',
  severity: 'error',
  title: 'There is no cloud to adopt',
  message: ({ cloud, namespace }) =>
    `namespace ${namespace} of ${cloud} has neither a control plane nor a LoadBalancer Service`,
  remedy: () => 'check the namespace in the site file; a cloud that does not exist yet is deployed by `stackloom up`',
  description: `\`adopt\` moves a running cloud to pools of its own. This namespace has nothing to move.`,
  example: { cloud: 'rhoso1', namespace: 'openstack' },
})

export const planMovesVip = problem<{ slot: string; service: string; planned: string; live: string }>({
  code: 'SL4051',
  severity: 'error',
  title: 'The plan has another address for a running Service',
  message: ({ slot, service, planned, live }) =>
    `the plan gives ${slot} the address ${planned}, but Service ${service} has ${live}`,
  remedy: ({ slot, live }) => `pin it in the site file: \`vips: {${slot}: ${live}}\`, or import the cloud again`,
  description: `Every Service keeps its address when a cloud is adopted: hosts, clients and certificates refer to it. The
site file must have the same address, or the next \`up\` would move it. \`stackloom import cluster\` writes the addresses
that it finds. Nothing was changed.`,
  example: {
    slot: 'keystone.internal',
    service: 'openstack/keystone-internal',
    planned: '172.17.0.81',
    live: '172.17.0.80',
  },
})

export const addressOutsidePlan = problem<{ service: string; address: string; ranges: readonly string[] }>({
  code: 'SL4052',
  severity: 'error',
  title: 'A Service has an address that is in no planned pool',
  message: ({ service, address, ranges }) =>
    `Service ${service} has ${address}, which is in none of the planned pools (${ranges.join(', ')})`,
  remedy: () => 'widen the `vips` span of its network in the site file so that it includes the address',
  description: `After the move MetalLB assigns only addresses of the cloud's own pools in this namespace. An address
outside of them would be lost. Nothing was changed.`,
  example: { service: 'openstack/dnsmasq-dns', address: '192.168.122.95', ranges: ['192.168.122.80-192.168.122.90'] },
})

export const foreignServiceInPool = problem<{ service: string; address: string; pool: string }>({
  code: 'SL4053',
  severity: 'error',
  title: 'A Service of another namespace has an address of this cloud',
  message: ({ service, address, pool }) =>
    `Service ${service} has ${address}, which will belong to pool ${pool} of another namespace`,
  remedy: () => 'give that Service another pool or delete it, then run the same command',
  description: `Pools of install_yamls serve every namespace (\`autoAssign\` is on and nothing limits them), so any
LoadBalancer Service of the cluster may have an address of them. The new pool serves the cloud's namespace only, and this
Service would lose its address. Nothing was changed.`,
  example: { service: 'shop/web', address: '172.17.0.82', pool: 'openstack-internalapi' },
})

export const controlPlaneNameDiffers = problem<{ namespace: string; name: string; ours: string }>({
  code: 'SL4054',
  severity: 'warning',
  title: 'The control plane has another name than Stackloom gives it',
  message: ({ namespace, name, ours }) => `the control plane of ${namespace} is called ${name}, not ${ours}`,
  remedy: () => 'leave it to the tool that created it: run `stackloom up --skip control-plane --skip data-plane`',
  description: `A namespace can have one OpenStackControlPlane, and a name cannot be changed. The move to own pools works
with any name. \`up\` would create a second control plane, which the operator refuses.`,
  example: { namespace: 'openstack', name: 'openstack-galera-network-isolation', ours: 'controlplane' },
})

export const attachmentKept = problem<{ attachment: string; what: string }>({
  code: 'SL4055',
  severity: 'info',
  title: 'A network attachment stays as it is',
  message: ({ attachment, what }) => `${attachment} is kept: ${what}`,
  remedy: () => 'change it only when all pods of this network can be created again (risk: needs recreation)',
  description: `whereabouts counts addresses by range and \`network_name\`. A definition with another range or name starts
empty, and assigns addresses that running pods have. So \`adopt\` does not change definitions; \`diff\` shows
what \`up\` would change in them, with the risk 'needs recreation'.`,
  example: {
    attachment: 'NetworkAttachmentDefinition openstack/internalapi',
    what: 'it has no network_name, the plan has openstack-internalapi',
  },
})

export const oldObjectKept = problem<{ object: string; why: string }>({
  code: 'SL4056',
  severity: 'info',
  title: 'An object of the earlier tool stays',
  message: ({ object, why }) => `${object} stays: ${why}`,
  remedy: () => 'remove it manually when it is no longer needed',
  description: `\`adopt\` removes only what overlaps the cloud's own pools and serves no other network.`,
  example: { object: 'IPAddressPool internalapi', why: 'it still holds 172.27.0.80-172.27.0.90' },
})

export const adoptionNeedsConsent = problem<{ cloud: string; networks: readonly string[] }>({
  code: 'SL4057',
  severity: 'error',
  title: 'The move needs consent',
  message: ({ cloud, networks }) =>
    `adopting ${cloud} interrupts the addresses of ${networks.join(', ') || 'no network'} for a moment, and this was not agreed to`,
  remedy: () => "run the same command on a terminal and type the cloud's name, or with --yes",
  description: `MetalLB refuses two pools with one range, so the old pool is deleted before the new one is created. In
between the addresses of that network do not answer for some seconds, which are measured and printed. Nothing was changed.`,
  example: { cloud: 'rhoso1', networks: ['ctlplane', 'internalapi'] },
})

export const addressNotRestored = problem<{ service: string; address: string; said: string }>({
  code: 'SL4058',
  severity: 'error',
  title: 'A Service did not get its address again',
  message: ({ service, address, said }) => `Service ${service} waits for ${address}${said ? `: ${said}` : ''}`,
  remedy: () => "look at the Service's events and at MetalLB's controller, then run the same command: it resumes",
  description: `The Service requests its old address in the new pool, and MetalLB has not assigned it within the time limit.
The pool and all requests are in place; as soon as MetalLB works again it assigns the address.`,
  example: {
    service: 'openstack/keystone-internal',
    address: '172.17.0.80',
    said: 'Failed to allocate IP for "openstack/keystone-internal": no available IPs',
  },
})

export const slotNotPlanned = problem<{ service: string; path: string }>({
  code: 'SL4059',
  severity: 'warning',
  title: 'A Service of the cloud is not in the plan',
  message: ({ service, path }) => `Service ${service} (${path}) keeps its address, but the site file does not plan it`,
  remedy: () => 'enable its service in the site file, so that the address is in the lock',
  description: `The running control plane has a service that the site file does not have. Its Service is moved like the
others, but the plan does not know that its address is used.`,
  example: { service: 'openstack/heat-api-internal', path: 'spec.heat.template.heatAPI.override.service.internal' },
})
