/**
 * Builds the DNSData that registers the names of a node with the addresses of its IPSet, and reads its state.
 *
 * Pure. In a namespace with a DNSMasq a node is registered as soon as it has addresses; its inventory names the servers
 * for the host to use.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { IpSet } from '../../api/ipset.ts'
import { controllerReference } from '../../api/ownership.ts'
import { findCondition } from '../../api/raw-object.ts'
import { dnsDatas, selectorValue } from '../../controllers/dns/dns-kinds.ts'
import { hostsForIpSet, isDnsRequested } from '../../controllers/dns/ipset-dns-controller.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/data-plane.ts'
import { type ProvisionState, readyState } from './node-ipset.ts'

/** Distinct from the names of inventories and of other DNSData: its ConfigMap gets the same name. */
export function dnsDataName(node: string): string {
  return `${node}-dataplane`
}

/** Undefined where no names are served, where there are no addresses yet, or where the IPSet itself is registered. */
export function desiredDnsData(
  node: DataPlaneNode,
  ipSet: IpSet | undefined,
  servers: readonly DnsMasq[],
): DnsData | undefined {
  const [server] = servers
  if (!server || !ipSet || isDnsRequested(ipSet)) return undefined
  const hosts = hostsForIpSet(ipSet)
  if (hosts.length === 0) return undefined
  const { namespace = '', name } = node.metadata
  const owner = controllerReference({ ...node, ...dataPlaneNodes })
  return {
    ...dnsDatas,
    metadata: { name: dnsDataName(name), namespace, ownerReferences: [owner] },
    spec: { dnsDataLabelSelectorValue: selectorValue(server.spec), hosts: [...hosts] },
  }
}

export function dnsDataState(
  desired: DnsData | undefined,
  live: DnsData | undefined,
  servers: readonly DnsMasq[],
): ProvisionState {
  if (!desired) return { kind: 'not-needed' }
  const { name } = desired.metadata
  if (!live) return { kind: 'awaited', why: `Waiting for DNSData ${name}` }
  const state = readyState(live, `DNSData ${name}`)
  if (state.kind !== 'ready') return state
  // A server that is Ready without an address serves only the cluster: there is nothing to wait for.
  const pending = servers.find((server) => !isReady(server) && dnsAddresses(server).length === 0)
  return pending
    ? { kind: 'awaited', why: `Waiting for DNSMasq ${pending.metadata.name} to have its address` }
    : { kind: 'ready' }
}

/** The addresses at which hosts outside the cluster resolve names. */
export function nameservers(servers: readonly DnsMasq[]): readonly string[] {
  return [...new Set(servers.flatMap(dnsAddresses))].toSorted()
}

function dnsAddresses({ status }: DnsMasq): readonly string[] {
  return status?.dnsAddresses ?? []
}

function isReady(server: DnsMasq): boolean {
  return findCondition(server, 'Ready')?.status === 'True'
}
