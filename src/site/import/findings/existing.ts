/** SL209x: importing network-values files of the architecture repository, and live clusters. */
import { problem } from '../../../errors/finding.ts'

export const notNetworkValues = problem<{ reason: string }>({
  code: 'SL2090',
  severity: 'error',
  title: 'A file holds no network values',
  message: ({ reason }) => `this is not a network-values file: ${reason}`,
  remedy: () => 'give the values.yaml of an nncp folder, a ConfigMap called network-values',
  description: `The architecture repository keeps the networks of a deployment in a ConfigMap \`network-values\` whose data is
nested YAML: one key per node (\`node_0\`), one per network.`,
  example: { reason: 'there is no ConfigMap network-values in it' },
})

export const badAttachment = problem<{ cloud: string; network: string; reason: string }>({
  code: 'SL2091',
  severity: 'warning',
  title: 'A network attachment cannot be read',
  message: ({ cloud, network, reason }) => `the attachment ${network} of ${cloud} was left out: ${reason}`,
  remedy: () => 'correct the CNI configuration, or add the pods span to the site file',
  description: `A NetworkAttachmentDefinition holds the configuration of a CNI plugin as JSON text. Its range is the \`pods\`
span of a network; other types than macvlan and bridge, and other address management than whereabouts, have no span.`,
  example: { cloud: 'openstack', network: 'internalapi', reason: 'its configuration is not JSON' },
})

export const valueLeftOut = problem<{ what: string; why: string }>({
  code: 'SL2092',
  severity: 'warning',
  title: 'A value was not imported',
  message: ({ what, why }) => `${what} was left out: ${why}`,
  remedy: () => 'add it to the site file if it is needed',
  description: `An import takes over what a site file can say. What it cannot say, or what contradicts itself in the source, is
named here instead of being guessed.`,
  example: { what: 'the VLAN 30 of ctlplane', why: 'its interface is enp8s0 itself, not a VLAN on it' },
})

export const subnetGuessed = problem<{ cloud: string; network: string; cidr: string; from: string }>({
  code: 'SL2093',
  severity: 'warning',
  title: 'The size of a subnet was guessed',
  message: ({ cloud, network, cidr, from }) =>
    `nothing says in which subnet ${from} of ${cloud}/${network} is; ${cidr} was taken`,
  remedy: () => 'correct the cidr in the site file if the subnet has another size',
  description: `A pool or a node address alone does not say how large its subnet is. The import takes a /24, or a /64 for IPv6.`,
  example: { cloud: 'openstack', network: 'designateext', cidr: '172.34.0.0/24', from: '172.34.0.80-172.34.0.90' },
})

export const noClouds = problem<{ looked: string }>({
  code: 'SL2094',
  severity: 'error',
  title: 'No cloud was found',
  message: ({ looked }) => `there is no cloud here: ${looked}`,
  remedy: () => 'check the context (--context), and that you may list NetConfigs and network attachments',
  description: `A cloud is a namespace with a NetConfig or with network attachments. Without rights to list them a cluster
looks empty; start from \`stackloom init\` if it is.`,
  example: { looked: 'no namespace has a NetConfig or a network attachment with addresses' },
})

export const poolForeign = problem<{ pool: string; why: string }>({
  code: 'SL2095',
  severity: 'warning',
  title: 'A pool belongs to no imported cloud',
  message: ({ pool, why }) => `the pool ${pool} was left out: ${why}`,
  remedy: () => 'nothing to do if it is not for a cloud; `stackloom plan --live` avoids its addresses',
  description: `A pool is a cloud's when it is scoped to its namespace, bears its name, or lies in one of its subnets. Others
stay what they are.`,
  example: { pool: 'public-web', why: 'none of its addresses is in a subnet of a cloud' },
})

export const nicUnknown = problem<{ node: string; nic: string }>({
  code: 'SL2096',
  severity: 'warning',
  title: 'Nothing says which NIC carries the networks',
  message: ({ node, nic }) => `no policy names an interface of ${node}; ${nic} was taken`,
  remedy: () => 'correct spec.cluster.nodes, or give the nodes with --node NAME=NIC',
  description: `The NIC is read from the node policies (base interface of the VLANs, port of the bridge) or from \`base_iface\`.
Where neither names one, the file gets the usual name and must be corrected.`,
  example: { node: 'worker-0', nic: 'enp6s0' },
})

export const serviceUnpinned = problem<{ service: string; address: string }>({
  code: 'SL2097',
  severity: 'info',
  title: 'A Service keeps its address without a pin',
  message: ({ service, address }) => `the Service ${service} has ${address}, but no slot is known for it`,
  remedy: () => 'pin it below vips in the site file if it must keep this address (`stackloom slots` lists the names)',
  description: `VIPs of Services that belong to a slot of the control plane are pinned in the imported file, so that nothing
moves. A Service that no slot is known for is named here.`,
  example: { service: 'openstack/console', address: '172.17.0.88' },
})
