/**
 * What it takes to move a running cloud to pools of its own, as one value: shown before anything is done, and done
 * from it. Looks at what lives, not at what somebody remembers having done: so the same look resumes a move that was
 * cut off anywhere. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { CONTROL_PLANE } from '../../render/control-plane/control-plane.ts'
import { renderAdvertisements, renderPools } from '../../render/metallb.ts'
import { renderVipPolicy } from '../../render/vip-policy.ts'
import { fieldDifferences } from '../../verify/field-differences.ts'
import { controlPlaneNameDiffers, nothingToAdopt, oldObjectKept } from '../findings/adopt.ts'
import { attachmentFindings } from './attachments.ts'
import { findLiveSlots } from './live-slots.ts'
import { type OldAdvertisement, oldAdvertisements } from './old-advertisements.ts'
import { type OldPool, overlappingPools, poolAddresses } from './old-pools.ts'
import { findServiceMoves, foreignServiceFindings, type ServiceMove } from './service-moves.ts'
import { findSlotMoves, type SlotMove } from './slot-moves.ts'
import { isEmpty } from './wishes.ts'

export interface NetworkMove {
  readonly network: string
  readonly pool: KubeObject
  readonly old: readonly OldPool[]
  readonly services: readonly ServiceMove[]
  readonly slots: readonly SlotMove[]
  /** `swap`: an old pool goes, so there is a gap. `in place`: the pool or what asks for it changes. */
  readonly kind: 'swap' | 'in place' | 'as planned'
}

export interface Adoption {
  readonly cloud: string
  readonly namespace: string
  readonly controlPlane: KubeObject | undefined
  readonly networks: readonly NetworkMove[]
  readonly advertisements: readonly KubeObject[]
  readonly oldAdvertisements: readonly OldAdvertisement[]
  readonly guard: readonly KubeObject[]
  /** Of the advertisements and the guard: what is not there, or says something else. */
  readonly missing: readonly KubeObject[]
  readonly findings: readonly Finding[]
}

export const adoptionKinds = [
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'Event' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'BGPAdvertisement' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' },
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding' },
] as const

export function planAdoption(plan: Plan, cloud: PlannedCloud, live: SnapshotIndex): Adoption {
  const { name, namespace } = cloud
  const controlPlane = live
    .all('core.openstack.org/OpenStackControlPlane')
    .find(({ metadata }) => metadata.namespace === namespace)
  const { uses } = cloud
  const places = controlPlane ? findLiveSlots(controlPlane, plan.slots) : []
  const services = findServiceMoves(cloud, { live, places, uses })
  const slots = findSlotMoves(cloud, { places, uses, services: services.moves })
  const pools = live.all('metallb.io/IPAddressPool')
  const desired = new Map(renderPools(plan, cloud).map((pool) => [pool.metadata.name, pool]))
  const networks = cloud.networks.flatMap((network): readonly NetworkMove[] => {
    const pool = desired.get(network.pool ?? '')
    if (!pool) return []
    const parts = {
      network: network.name,
      pool,
      old: overlappingPools(pool, pools),
      services: services.moves.filter((move) => move.network === network.name),
      slots: slots.filter((slot) => slot.network === network.name),
    }
    return [{ ...parts, kind: moveKind(parts, live) }]
  })
  const advertisements = renderAdvertisements(plan, cloud)
  const guard = renderVipPolicy(plan, cloud)
  const old = oldAdvertisements(live, networks, advertisements)
  return {
    cloud: name,
    namespace,
    controlPlane,
    networks,
    advertisements,
    oldAdvertisements: old.gone,
    guard,
    missing: [...advertisements, ...guard].filter((one) => differs(one, live)),
    findings: [
      ...(controlPlane || services.moves.length > 0 ? [] : [finding(nothingToAdopt, { cloud: name, namespace })]),
      ...controlPlaneNameFindings(controlPlane, namespace),
      ...services.findings,
      ...foreignServiceFindings(live, cloud, [...desired.values()]),
      ...keptPoolFindings(networks),
      ...old.findings,
      ...attachmentFindings(live, cloud),
    ],
  }
}

/** Nothing left to do: the same look after a finished move. */
export function isAdopted({ networks, oldAdvertisements, missing }: Adoption): boolean {
  return networks.every(({ kind }) => kind === 'as planned') && oldAdvertisements.length === 0 && missing.length === 0
}

/** Networks whose addresses do not answer for a moment. */
export function interruptedNetworks({ networks }: Adoption): readonly NetworkMove[] {
  return networks.filter(isInterrupted)
}

export function isInterrupted({ kind, services }: NetworkMove): boolean {
  return services.length > 0 && (kind === 'swap' || services.some(({ rekeyed }) => rekeyed))
}

function moveKind({ pool, old, services, slots }: Omit<NetworkMove, 'kind'>, live: SnapshotIndex): NetworkMove['kind'] {
  const there = live.get('metallb.io/IPAddressPool', pool.metadata.name, pool.metadata.namespace)
  if (old.length > 0 || !there) return 'swap'
  const asks = [...services, ...slots].some(({ lacks }) => !isEmpty(lacks))
  return asks || differs(pool, live) ? 'in place' : 'as planned'
}

function differs(desired: KubeObject, live: SnapshotIndex): boolean {
  const { name, namespace } = desired.metadata
  const group = `${desired.apiVersion.split('/')[0]}/${desired.kind}`
  const there = live.get(group, name, namespace)
  return !there || fieldDifferences(desired, there).length > 0
}

function controlPlaneNameFindings(controlPlane: KubeObject | undefined, namespace: string): readonly Finding[] {
  if (!controlPlane || controlPlane.metadata.name === CONTROL_PLANE) return []
  const { name } = controlPlane.metadata
  return [finding(controlPlaneNameDiffers, { namespace, name, ours: CONTROL_PLANE })]
}

function keptPoolFindings(networks: readonly NetworkMove[]): readonly Finding[] {
  return networks.flatMap(({ old }) =>
    old
      .filter(({ keeps }) => keeps.length > 0)
      .map(({ pool, keeps }) =>
        finding(oldObjectKept, {
          object: `IPAddressPool ${pool.metadata.name}`,
          why: `of ${poolAddresses(pool).join(', ')} it still holds ${keeps.join(', ')}`,
        }),
      ),
  )
}
