/**
 * Imports how MetalLB announces the pools of the clouds: the namespace, and for BGP the AS number and the routers.
 *
 * Pure. A site has one mode for all its clouds.
 */
import { asList, asRecord, asString, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { matchesLabels } from '../../api/selectors.ts'
import type { SiteFile } from '../../api/site.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { valueLeftOut } from './findings/existing.ts'

type MetalLb = NonNullable<SiteFile['spec']['cluster']['metallb']>
type Peer = NonNullable<MetalLb['peers']>[number]

const STANDARD_NAMESPACE = 'metallb-system'

/** `pools` are those of the clouds. Undefined where the file needs no entry. */
export function importMetalLb(
  index: SnapshotIndex,
  pools: readonly KubeObject[],
  nodes: readonly KubeObject[],
  findings: Finding[],
): MetalLb | undefined {
  const [namespace = STANDARD_NAMESPACE] = pools.map(({ metadata }) => metadata.namespace ?? STANDARD_NAMESPACE)
  const home = namespace === STANDARD_NAMESPACE ? {} : { namespace }
  const peers = index.all(BGP_PEER).filter(({ metadata }) => metadata.namespace === namespace)
  const bgp = peers.length > 0 ? importPeers(index, pools, { peers, nodes, findings }) : undefined
  return bgp ? { mode: 'bgp', ...home, ...bgp } : Object.keys(home).length > 0 ? home : undefined
}

const BGP_PEER = 'metallb.io/BGPPeer'

interface PeerContext {
  readonly peers: readonly KubeObject[]
  readonly nodes: readonly KubeObject[]
  readonly findings: Finding[]
}

function importPeers(
  index: SnapshotIndex,
  pools: readonly KubeObject[],
  { peers, nodes, findings }: PeerContext,
): Pick<MetalLb, 'asn' | 'peers'> | undefined {
  const byLayer2 = announcers(index, 'metallb.io/L2Advertisement', pools)
  const byBgp = announcers(index, 'metallb.io/BGPAdvertisement', pools)
  const read = peers.map((peer) => ({ object: peer, ...readPeer(peer, nodes) }))
  if (byLayer2.length > 0 && byBgp.length === 0) {
    const why = 'L2Advertisements announce the pools of the clouds, and no BGPAdvertisement does'
    findings.push(...read.map(({ object }) => leftOut(object, '', why)))
    return undefined
  }
  const why = 'a site has one mode, and the pools are announced by BGP too'
  findings.push(...byLayer2.map((object) => leftOut(object, '', why)))
  const usable = read.filter(({ peer }) => peer !== undefined)
  for (const { object, problem } of read) if (problem !== undefined) findings.push(leftOut(object, '', problem))
  const asn = usable.find((each) => each.asn !== undefined)?.asn
  for (const each of usable) {
    if (each.asn !== undefined && each.asn !== asn)
      findings.push(leftOut(each.object, ` spec.myASN: ${each.asn}`, `a site has one AS number, here ${asn}`))
  }
  if (usable.length === 0 || asn === undefined) return undefined
  return { asn, peers: usable.flatMap(({ peer }) => peer ?? []) }
}

function readPeer(
  { metadata, spec }: KubeObject & { readonly spec?: unknown },
  nodes: readonly KubeObject[],
): { readonly asn?: number | undefined; readonly peer?: Peer; readonly problem?: string } {
  const { myASN, peerASN, peerAddress, peerPort, passwordSecret, bfdProfile, ebgpMultiHop, nodeSelectors } =
    asRecord(spec)
  const secret = asString(asRecord(passwordSecret)['name'])
  const profile = asString(bfdProfile)
  const asn = typeof myASN === 'number' ? myASN : undefined
  const address = asString(peerAddress)
  if (address === undefined || typeof peerASN !== 'number')
    return { problem: 'a router of a site file has an address and an AS number' }
  const selected = selectNodes(asList(nodeSelectors), nodes)
  if (selected.length === 0 && nodes.length > 0) return { problem: 'its nodeSelectors match no node' }
  const peer: Peer = {
    name: metadata.name,
    address,
    asn: peerASN,
    ...(typeof peerPort === 'number' && peerPort !== 0 && { port: peerPort }),
    ...(selected.length < nodes.length && { nodes: [...selected] }),
    ...(secret !== undefined && { passwordSecret: secret }),
    ...(profile !== undefined && { bfdProfile: profile }),
    ...(ebgpMultiHop === true && { ebgpMultiHop }),
  }
  return { asn, peer }
}

/** The nodes that peer: those that one of the selectors matches, or all without a selector. */
function selectNodes(selectors: readonly unknown[], nodes: readonly KubeObject[]): readonly string[] {
  const matches = ({ metadata }: KubeObject): boolean => {
    const labels = { 'kubernetes.io/hostname': metadata.name, ...metadata.labels }
    return selectors.length === 0 || selectors.some((selector) => matchesLabels(selector, labels))
  }
  return nodes.filter(matches).map(({ metadata }) => metadata.name)
}

/** The advertisements of a kind that announce one of the pools. Without names and selectors one announces all. */
function announcers(index: SnapshotIndex, kind: string, pools: readonly KubeObject[]): readonly KubeObject[] {
  return index.all(kind).filter((advertisement) => {
    const spec = asRecord(advertisement['spec'])
    const names = asStrings(spec['ipAddressPools'])
    const selectors = asList(spec['ipAddressPoolSelectors'])
    if (names.length === 0 && selectors.length === 0) return true
    return pools.some(
      ({ metadata }) =>
        names.includes(metadata.name) || selectors.some((selector) => matchesLabels(selector, metadata.labels)),
    )
  })
}

function leftOut({ apiVersion, kind, metadata }: KubeObject, field: string, why: string): Finding {
  const { name, namespace } = metadata
  const where = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
  return finding(valueLeftOut, { what: `${kind} ${name}${field}`, why }, { where })
}
