/** The LoadBalancer Services of a cloud: the address that each keeps, and what it must ask for to keep it. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { textAt } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { addressOutsidePlan, planMovesVip, slotNotPlanned, strangerInPool } from '../../errors/adopt.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { setContains } from '../../net/range-set.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import { rangeText, spansOf } from '../../render/spans.ts'
import { askedAddresses, ingressOf } from '../../verify/readiness/services.ts'
import { rangesOf } from './old-pools.ts'
import type { Annotations, SlotPlace } from './places.ts'
import { asked, lacking, spelled } from './wishes.ts'

export interface ServiceMove {
  readonly name: string
  readonly namespace: string
  readonly network: string
  /** What it has, or asks for while it has nothing. */
  readonly addresses: readonly string[]
  /** Everything that it must ask for in the end. */
  readonly wants: Annotations
  /** What of it is not there yet. */
  readonly lacks: Annotations
  /** It shares its address under another key so far: while Services change it one by one, they do not agree. */
  readonly rekeyed: boolean
  /** Absent for a Service that no slot of the control plane makes. */
  readonly slot?: string
}

export interface ServiceInput {
  readonly live: SnapshotIndex
  readonly places: readonly SlotPlace[]
  readonly uses: readonly SlotUse[]
}

export function movingServices(
  cloud: PlannedCloud,
  { live, places, uses }: ServiceInput,
): { readonly moves: readonly ServiceMove[]; readonly findings: readonly Finding[] } {
  const moves: ServiceMove[] = []
  const findings: Finding[] = []
  for (const service of balancers(live, (namespace) => namespace === cloud.namespace)) {
    const { name, namespace = '' } = service.metadata
    const addresses = addressesOfService(service)
    const [first] = addresses
    // A Service that never got an address has none to keep.
    if (first === undefined) continue
    const network = networkOf(cloud, first)
    const words = `${namespace}/${name}`
    if (!network) {
      findings.push(
        finding(addressOutsidePlan, { service: words, address: first, ranges: rangesOfCloud(cloud) }),
      )
      continue
    }
    const place = places.find((one) => one.service === name)
    const use = place && uses.find(({ path }) => path.join('.') === place.path.join('.'))
    if (use) findings.push(...movedFindings(cloud, use.name, words, addresses))
    else if (place)
      findings.push(finding(slotNotPlanned, { service: words, path: `spec.${place.path.join('.')}` }))
    const wants = wantsOf(service, network, addresses)
    const slot = use?.name ?? place?.path.join('.')
    moves.push({
      name,
      namespace,
      network: network.name,
      addresses,
      wants,
      lacks: lacking(wants, service.metadata.annotations),
      rekeyed: asked(wants, 'allow-shared-ip') !== asked(service.metadata.annotations, 'allow-shared-ip'),
      ...(slot !== undefined && { slot }),
    })
  }
  return { moves, findings }
}

/** Services elsewhere that would lose their address to a pool that serves this cloud alone. */
export function strangers(
  live: SnapshotIndex,
  cloud: PlannedCloud,
  pools: readonly KubeObject[],
): readonly Finding[] {
  return balancers(live, (namespace) => namespace !== cloud.namespace).flatMap((service) =>
    ingressOf(service).flatMap((text) => {
      const address = parseAddress(text)
      const pool = address && pools.find((one) => setContains(rangesOf(one), address))
      if (!pool) return []
      const { name, namespace = '' } = service.metadata
      const facts = { service: `${namespace}/${name}`, address: text, pool: pool.metadata.name }
      return [finding(strangerInPool, facts)]
    }),
  )
}

export function networkOf(cloud: PlannedCloud, text: string): PlannedNetwork | undefined {
  const address = parseAddress(text)
  return (
    address &&
    cloud.networks.find((one) => one.subnets.some((subnet) => setContains(spansOf(subnet, 'vips'), address)))
  )
}

function balancers(live: SnapshotIndex, within: (namespace: string) => boolean): readonly KubeObject[] {
  return live
    .all('Service')
    .filter((one) => within(one.metadata.namespace ?? '') && textAt(one, 'spec', 'type') === 'LoadBalancer')
}

function addressesOfService(service: KubeObject): readonly string[] {
  const given = ingressOf(service)
  return given.length > 0 ? given : askedAddresses(service)
}

/** MetalLB refuses a Service that asks for its address in two ways: what its spec says stays its only word. */
function wantsOf(service: KubeObject, network: PlannedNetwork, addresses: readonly string[]): Annotations {
  const { annotations } = service.metadata
  const shares = asked(annotations, 'allow-shared-ip') !== ''
  const fixed = textAt(service, 'spec', 'loadBalancerIP') !== undefined
  return spelled({
    'address-pool': network.pool ?? '',
    ...(shares && { 'allow-shared-ip': network.sharingKey ?? '' }),
    ...(!fixed && { loadBalancerIPs: addresses.join(',') }),
  })
}

function movedFindings(
  cloud: PlannedCloud,
  slot: string,
  service: string,
  addresses: readonly string[],
): readonly Finding[] {
  const planned = cloud.networks.flatMap(({ vips }) => vips).filter((vip) => vip.slot === slot)
  const same = planned.length === addresses.length && planned.every((vip) => addresses.includes(vip.address))
  if (planned.length === 0 || same) return []
  const facts = { planned: planned.map((vip) => vip.address).join(', '), live: addresses.join(', ') }
  return [finding(planMovesVip, { slot, service, ...facts })]
}

function rangesOfCloud(cloud: PlannedCloud): readonly string[] {
  return cloud.networks.flatMap(({ subnets }) =>
    subnets.flatMap((one) => spansOf(one, 'vips').map(rangeText)),
  )
}

/** Every address is there again. Until the view shows our own writes, an address in it is the one from before. */
export function isBack(
  live: KubeObject,
  { addresses, wants }: Pick<ServiceMove, 'addresses' | 'wants'>,
): boolean {
  const given = ingressOf(live)
  const asks = Object.entries(wants)
    .filter(([key]) => key.startsWith('metallb.io/'))
    .every(([key, value]) => live.metadata.annotations?.[key] === value)
  return asks && addresses.every((address) => given.includes(address))
}
