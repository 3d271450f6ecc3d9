/**
 * The names of a node: a DNSData with the addresses that its IPSet was given.
 *
 * Pure. A namespace with a DNSMasq is one whose names are served: there a node is registered as soon as it has
 * addresses. The servers themselves are what its inventory names for the host to ask.
 */

import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { IpSet } from '../../api/ipset.ts'
import { dnsDatas, selectorValue } from '../../controllers/dns/dns-kinds.ts'
import { hostsForIpSet, isDnsRequested } from '../../controllers/dns/ipset-dns-controller.ts'
import { findCondition } from '../conditions.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/node.ts'
import { type ProvisionState, readyState } from './node-ipset.ts'

/** A name that neither an inventory nor a person's DNSData has by chance: its ConfigMap is named alike. */
export function dnsDataName(node: string): string {
  return `${node}-dataplane`
}

/** Undefined where nobody serves names, where there are none yet, or where the IPSet itself is registered. */
export function desiredDnsData(
  node: DataPlaneNode,
  ipSet: IpSet | undefined,
  servers: readonly DnsMasq[],
): DnsData | undefined {
  const [server] = servers
  if (!server || !ipSet || isDnsRequested(ipSet)) return undefined
  const hosts = hostsForIpSet(ipSet)
  if (hosts.length === 0) return undefined
  const { namespace = '', name, uid = '' } = node.metadata
  const owner = { ...dataPlaneNodes, name, uid, controller: true, blockOwnerDeletion: true }
  return {
    ...dnsDatas,
    metadata: { name: dnsDataName(name), namespace, ownerReferences: [owner] },
    spec: { dnsDataLabelSelectorValue: selectorValue(server.spec), hosts: [...hosts] },
  }
}

export function dnsDataState(
  wanted: DnsData | undefined,
  there: DnsData | undefined,
  servers: readonly DnsMasq[],
): ProvisionState {
  if (!wanted) return { kind: 'not-needed' }
  const { name } = wanted.metadata
  if (!there) return { kind: 'awaited', why: `Waiting for DNSData ${name}` }
  const told = readyState(there, `DNSData ${name}`)
  if (told.kind !== 'there') return told
  // One that is only known inside the cluster never has an address for hosts outside: nothing to wait for.
  const late = servers.find((server) => !isReady(server) && dnsAddresses(server).length === 0)
  return late
    ? { kind: 'awaited', why: `Waiting for DNSMasq ${late.metadata.name} to have its address` }
    : { kind: 'there' }
}

/** The addresses at which hosts outside the cluster ask for names. */
export function nameservers(servers: readonly DnsMasq[]): readonly string[] {
  return [...new Set(servers.flatMap(dnsAddresses))].toSorted()
}

function dnsAddresses({ status }: DnsMasq): readonly string[] {
  return status?.dnsAddresses ?? []
}

function isReady({ status }: DnsMasq): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True'
}
