/**
 * SL2035 to SL2038, SL2044, SL2047 to SL2049, SL209x: importing network-values files of the architecture repository,
 * and live clusters.
 */
import { problem } from '../../../errors/finding.ts'

export const notNetworkValues = problem<{ reason: string }>({
  code: 'SL2090',
  severity: 'error',
  message: ({ reason }) => `this is not a network-values file: ${reason}`,
  remedy: () =>
    'give the values.yaml of an nncp folder, a ConfigMap called network-values; a folder of manifests is read by `--source cluster --from DIR`',
})

export const badAttachment = problem<{ cloud: string; network: string; reason: string }>({
  code: 'SL2091',
  severity: 'warning',
  message: ({ cloud, network, reason }) => `the attachment ${network} of ${cloud} was left out: ${reason}`,
  remedy: () => 'correct the CNI configuration, or add the pods span to the site file',
})

export const valueLeftOut = problem<{ what: string; why: string }>({
  code: 'SL2092',
  severity: 'warning',
  message: ({ what, why }) => `${what} was left out: ${why}`,
  remedy: () => 'look whether the cloud needs it; what a site file has no field for stays where it is set now',
})

export const subnetGuessed = problem<{ cloud: string; network: string; cidr: string; from: string }>({
  code: 'SL2093',
  severity: 'warning',
  message: ({ cloud, network, cidr, from }) =>
    `nothing says in which subnet ${from} of ${cloud}/${network} is; ${cidr} was taken`,
  remedy: () => 'correct the cidr in the site file if the subnet has another size',
})

export const noClouds = problem<{ looked: string }>({
  code: 'SL2094',
  severity: 'error',
  message: ({ looked }) => `there is no cloud here: ${looked}`,
  remedy: () => 'check the context (--context), and that you may list NetConfigs and network attachments',
})

export const poolForeign = problem<{ pool: string; why: string }>({
  code: 'SL2095',
  severity: 'info',
  message: ({ pool, why }) => `the pool ${pool} was left out: ${why}`,
  remedy: () => 'nothing to do if it is not for a cloud; `stackloom plan --live` avoids its addresses',
})

export const nicUnknown = problem<{ node: string; nic: string }>({
  code: 'SL2096',
  severity: 'warning',
  message: ({ node, nic }) => `no policy names an interface of ${node}; ${nic} was taken`,
  remedy: () => 'correct spec.cluster.nodes, or give the nodes with --node NAME=NIC',
})

export const serviceUnpinned = problem<{ service: string; address: string }>({
  code: 'SL2097',
  severity: 'info',
  message: ({ service, address }) => `the Service ${service} has ${address}, but no slot is known for it`,
  remedy: () => 'pin it below vips in the site file if it must keep this address (`stackloom slots` lists the names)',
})

export const hostAddressesChosen = problem<{
  nodeSet: string
  network: string
  subnet: string
  addresses: readonly string[]
}>({
  code: 'SL2098',
  severity: 'warning',
  message: ({ nodeSet, network, subnet, addresses }) =>
    `hosts of ${nodeSet} are in ${subnet} of ${network} without an address; ${addresses.slice(0, 8).join(', ')}${addresses.length > 8 ? ', …' : ''} ${addresses.length === 1 ? 'was' : 'were'} pinned`,
  remedy: () =>
    'correct addresses of the hosts in the site file if they have others already (`oc get ipset -n NAMESPACE`)',
})

export const segmentUnknown = problem<{ cloud: string; network: string }>({
  code: 'SL2035',
  severity: 'warning',
  message: ({ cloud, network }) =>
    `nothing says on which interface or VLAN ${cloud}/${network} is; the planner gives it a VLAN of the main NIC`,
  remedy: () => 'write vlan and nic of the network into the site file',
})

export const placeholdersLeft = problem<{ paths: readonly string[] }>({
  code: 'SL2036',
  severity: 'warning',
  message: ({ paths }) =>
    `${paths.length} values are placeholders and were left out: ${paths.slice(0, 12).join(', ')}${paths.length > 12 ? ', …' : ''}`,
  remedy: () => 'fill in the file and import it again; otherwise the planner chooses these values',
})

export const filesLeftOut = problem<{ folder: string; files: readonly string[] }>({
  code: 'SL2037',
  severity: 'info',
  message: ({ folder, files }) =>
    `${files.length} files of ${folder} have no network-values and were left out: ${files.slice(0, 8).join(', ')}${files.length > 8 ? ', …' : ''}`,
  remedy: () => 'nothing to do for networks; services and node sets are described in the site file',
})

export const addressBelowBridge = problem<{
  node: string
  addresses: readonly string[]
  interface: string
  bridge: string
}>({
  code: 'SL2038',
  severity: 'warning',
  message: (facts) =>
    `${facts.node} has ${facts.addresses.join(', ')} on ${facts.interface}; the plan puts it on the bridge ${facts.bridge} above it`,
  remedy: () => 'see `stackloom diff` before `up`: the address moves from the NIC to the bridge, and stays the same',
})

export const nicNotInSite = problem<{ device: string; site: string }>({
  code: 'SL2044',
  severity: 'warning',
  message: ({ device, site }) => `imported networks are on ${device}, which no node of the site ${site} has`,
  remedy: ({ device }) => `add it to every node of spec.cluster.nodes: nics: {main: …, ${device}: ${device}}`,
})

export const platformGuessed = problem<{ why: string }>({
  code: 'SL2047',
  severity: 'warning',
  message: ({ why }) => `the platform was taken to be kubernetes, because ${why}`,
  remedy: () =>
    'on OpenShift, write `platform: openshift` under spec.cluster before the first plan: it decides whether public endpoints get VIPs, and the lock keeps them',
})

export const vipsUnpinned = problem<{ cloud: string }>({
  code: 'SL2048',
  severity: 'warning',
  message: ({ cloud }) =>
    `the VIPs of ${cloud} are not pinned, because its Services were not read: the plan may choose others than it has`,
  remedy: () =>
    'add Services to the source (`kubectl get services -A -o yaml`) and import again, or pin each address under `vips` of the cloud (`stackloom slots` lists the names)',
})

export const ipSetWithoutHost = problem<{ ipSet: string; addresses: readonly string[] }>({
  code: 'SL2049',
  severity: 'warning',
  message: ({ ipSet, addresses }) =>
    `the IPSet ${ipSet} ${addresses.length > 0 ? `(${addresses.join(', ')}) ` : ''}is of no imported host, so the plan may give its addresses to others`,
  remedy: () =>
    'add its OpenStackDataPlaneNodeSet to the source and import again, or write the host with its `addresses` under `hosts` of the cloud',
})

export const keptByImport = problem<{ cloud: string; keep: readonly string[] }>({
  code: 'SL2099',
  severity: 'info',
  message: ({ cloud, keep }) =>
    `another tool deployed ${cloud}: \`keep: [${keep.join(', ')}]\` leaves to it what Stackloom must not replace while it runs`,
  remedy: () => 'remove `keep` from the cloud if the objects that were read are not deployed',
})
