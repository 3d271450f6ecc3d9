/**
 * Plans how to move a running cloud to pools of its own, as a value to show before anything is done.
 *
 * Pure over the live state, so that the same function resumes a move that was interrupted at any point.
 */
import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getList, getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { CONTROL_PLANE } from '../../render/control-plane/control-plane.ts'
import { isKept } from '../../render/kept.ts'
import { asFields } from '../../render/merge.ts'
import { renderAdvertisements, renderPools } from '../../render/metallb.ts'
import { cniConfig } from '../../render/multus.ts'
import { renderBasePolicies, renderCloudPolicies } from '../../render/nmstate.ts'
import { renderVipPolicy } from '../../render/vip-policy.ts'
import { fieldDifferences } from '../../verify/field-differences.ts'
import {
  attachmentKept,
  controlPlaneNameDiffers,
  nothingToAdopt,
  oldObjectKept,
  oldPolicyStays,
} from '../findings/adopt.ts'
import { findLive, objectRef } from '../object-changes.ts'
import { findLiveSlots } from './live-slots.ts'
import { type OldPool, oldAdvertisements, overlappingPools, poolAddresses } from './old-pools.ts'
import {
  findServiceMoves,
  findSlotMoves,
  foreignServiceFindings,
  isEmpty,
  type ServiceMove,
  type SlotMove,
} from './service-moves.ts'

export interface NetworkMove {
  readonly network: string
  readonly pool: KubeObject
  readonly old: readonly OldPool[]
  readonly services: readonly ServiceMove[]
  readonly slots: readonly SlotMove[]
  /** `swap`: an old pool is deleted, so there is a gap. `in place`: the pool or what refers to it changes. */
  readonly kind: 'swap' | 'in place' | 'as planned'
}

export interface Adoption {
  readonly cloud: string
  readonly namespace: string
  readonly controlPlane: KubeObject | undefined
  readonly networks: readonly NetworkMove[]
  readonly advertisements: readonly KubeObject[]
  readonly oldAdvertisements: readonly KubeObject[]
  readonly guard: readonly KubeObject[]
  /** Advertisements and policies that do not exist or that differ. */
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
  { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding' },
] as const

export function planAdoption(plan: Plan, cloud: PlannedCloud, live: SnapshotIndex): Adoption {
  const { name, namespace, uses } = cloud
  const controlPlane = live
    .all('core.openstack.org/OpenStackControlPlane')
    .find(({ metadata }) => metadata.namespace === namespace)
  const liveSlots = controlPlane ? findLiveSlots(controlPlane, plan.slots) : []
  const services = findServiceMoves(cloud, { live, liveSlots, uses })
  const slots = findSlotMoves(cloud, { liveSlots, uses, services: services.moves })
  const pools = live.all('metallb.io/IPAddressPool')
  const desired = new Map(renderPools(plan, cloud).map((pool) => [pool.metadata.name, pool]))
  const networks = cloud.networks.flatMap((network): readonly NetworkMove[] => {
    const pool = desired.get(network.pool ?? '')
    if (!pool) return []
    const move = {
      network: network.name,
      pool,
      old: overlappingPools(pool, pools),
      services: services.moves.filter((service) => service.network === network.name),
      slots: slots.filter((slot) => slot.network === network.name),
    }
    return [{ ...move, kind: moveKind(move, live) }]
  })
  const advertisements = renderAdvertisements(plan, cloud)
  const guard = renderVipPolicy(plan, cloud)
  const old = oldAdvertisements(live, networks, advertisements)
  const isEmptyCloud = !controlPlane && services.moves.length === 0
  return {
    cloud: name,
    namespace,
    controlPlane,
    networks,
    advertisements,
    oldAdvertisements: old.unused,
    guard,
    missing: [...advertisements, ...guard].filter((object) => differs(object, live)),
    findings: [
      ...(isEmptyCloud ? [finding(nothingToAdopt, { cloud: name, namespace })] : []),
      ...(isKept(cloud, 'control-plane') ? [] : controlPlaneNameFindings(controlPlane, namespace)),
      ...services.findings,
      ...foreignServiceFindings(live, cloud, [...desired.values()]),
      ...keptPoolFindings(networks),
      ...old.findings,
      ...attachmentFindings(live, cloud),
      ...oldPolicyFindings(live, plan, cloud),
    ],
  }
}

/** Nothing is left to do, as after a finished move. */
export function isAdopted({ networks, oldAdvertisements: old, missing }: Adoption): boolean {
  return networks.every(({ kind }) => kind === 'as planned') && old.length === 0 && missing.length === 0
}

/** Networks whose addresses do not answer for a moment. */
export function interruptedNetworks({ networks }: Adoption): readonly NetworkMove[] {
  return networks.filter(isInterrupted)
}

export function isInterrupted({ kind, services }: NetworkMove): boolean {
  return services.length > 0 && (kind === 'swap' || services.some(({ rekeyed }) => rekeyed))
}

function moveKind({ pool, old, services, slots }: Omit<NetworkMove, 'kind'>, live: SnapshotIndex): NetworkMove['kind'] {
  if (old.length > 0 || !findLive(objectRef(pool), live)) return 'swap'
  const isIncomplete = [...services, ...slots].some(({ missing }) => !isEmpty(missing))
  return isIncomplete || differs(pool, live) ? 'in place' : 'as planned'
}

function differs(desired: KubeObject, index: SnapshotIndex): boolean {
  const live = findLive(objectRef(desired), index)
  return !live || fieldDifferences(desired, live).length > 0
}

function controlPlaneNameFindings(controlPlane: KubeObject | undefined, namespace: string): readonly Finding[] {
  if (!controlPlane || controlPlane.metadata.name === CONTROL_PLANE) return []
  const { name } = controlPlane.metadata
  return [finding(controlPlaneNameDiffers, { namespace, name, ours: CONTROL_PLANE })]
}

function keptPoolFindings(networks: readonly NetworkMove[]): readonly Finding[] {
  return networks
    .flatMap(({ old }) => old)
    .filter(({ remaining }) => remaining.length > 0)
    .map(({ pool, remaining }) => {
      const why = `of ${poolAddresses(pool).join(', ')} it still holds ${remaining.join(', ')}`
      return finding(oldObjectKept, { object: `IPAddressPool ${pool.metadata.name}`, why })
    })
}

const comparedFields = ['range', 'range_start', 'range_end', 'network_name'] as const

/** Existing network attachments do not change; where the plan differs from them it is reported. */
function attachmentFindings(live: SnapshotIndex, cloud: PlannedCloud): readonly Finding[] {
  return cloud.networks.flatMap((network) => {
    const existing = live.get('k8s.cni.cncf.io/NetworkAttachmentDefinition', network.name, cloud.namespace)
    if (!existing || network.attach === 'none') return []
    const planned = asFields(cniConfig(cloud, network)['ipam'])
    const found = asFields(parseCniConfig(existing)['ipam'])
    const kept = isKept(cloud, 'netattach')
    const what = comparedFields
      // The name may stay as it is where the site file says so; `verify` reports it.
      .filter((key) => planned[key] !== found[key] && !(kept && key === 'network_name'))
      .map((key) => formatDifference(key, found[key], planned[key]))
    if (what.length === 0) return []
    const attachment = `NetworkAttachmentDefinition ${cloud.namespace}/${network.name}`
    return [finding(attachmentKept, { attachment, what: what.join('; '), kept })]
  })
}

/** Policies of another tool for interfaces that the plan configures too. Deleting them is left to the user. */
function oldPolicyFindings(live: SnapshotIndex, plan: Plan, cloud: PlannedCloud): readonly Finding[] {
  const planned = new Set([...renderBasePolicies(plan), ...renderCloudPolicies(plan, cloud)].flatMap(interfaceNames))
  return live.all('nmstate.io/NodeNetworkConfigurationPolicy').flatMap((policy) => {
    const interfaces = interfaceNames(policy).filter((name) => planned.has(name))
    if (interfaces.length === 0 || isManagedByStackloom(policy)) return []
    return [finding(oldPolicyStays, { policy: policy.metadata.name, interfaces })]
  })
}

function interfaceNames(policy: KubeObject): readonly string[] {
  return getList(policy, 'spec', 'desiredState', 'interfaces').flatMap((entry) => getString(entry, 'name') ?? [])
}

function parseCniConfig(definition: KubeObject): Readonly<Record<string, unknown>> {
  try {
    return asFields(JSON.parse(getString(definition, 'spec', 'config') ?? '{}'))
  } catch {
    return {}
  }
}

function formatDifference(key: string, found: unknown, planned: unknown): string {
  const live = found === undefined ? `it has no ${key}` : `its ${key} is ${JSON.stringify(found)}`
  return `${live}, the plan has ${planned === undefined ? 'none' : JSON.stringify(planned)}`
}
