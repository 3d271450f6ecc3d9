/** SL209x: importing network-values files of the architecture repository, and live clusters. */
import { problem } from '../../../errors/finding.ts'

export const notNetworkValues = problem<{ reason: string }>({
  code: 'SL2090',
  severity: 'error',
  message: ({ reason }) => `this is not a network-values file: ${reason}`,
  remedy: () => 'give the values.yaml of an nncp folder, a ConfigMap called network-values',
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
  remedy: () => 'add it to the site file if it is needed',
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
