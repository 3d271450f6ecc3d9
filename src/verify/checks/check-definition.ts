/** Defines checks: a check proves one promise of the plan on a snapshot. Pure; the caller gathers the required kinds. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import type { Finding, ObjectLocation } from '../../errors/finding.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'

/** A rendered object of the site. */
export interface PlannedDocument {
  /** Undefined for objects that the clouds share. */
  readonly cloud?: string
  readonly object: KubeObject
}

/** Answers of a cloud's DNS server. */
export interface DnsAnswers {
  readonly server: string
  /** Set when the server could not be queried. */
  readonly unreachable?: string
  /** Addresses by name; empty for an unknown name. */
  readonly answers: ReadonlyMap<string, readonly string[]>
}

/** What the services of a cloud answered to a client with a token. */
export type EndpointAnswers =
  | { readonly kind: 'no-token'; readonly keystone: string; readonly reason: string }
  | {
      readonly kind: 'asked'
      /** With a problem if it did not answer. */
      readonly services: readonly { readonly type: string; readonly url: string; readonly problem?: string }[]
    }

export interface SiteContext {
  readonly plan: Plan
  readonly documents: readonly PlannedDocument[]
  /** Objects that stay with the tool that deployed their cloud, as they would be rendered. */
  readonly kept?: readonly PlannedDocument[]
  readonly live: SnapshotIndex
  /** When the cluster was read, in milliseconds since the epoch. */
  readonly now: number
  /** By cloud; set only with `--ask-dns`. */
  readonly dns?: ReadonlyMap<string, DnsAnswers>
  /** By cloud; set only with `--ask-endpoints`. */
  readonly endpoints?: ReadonlyMap<string, EndpointAnswers>
}

export interface CloudContext extends SiteContext {
  readonly cloud: PlannedCloud
  /** The documents of this cloud. */
  readonly desired: readonly KubeObject[]
}

export interface CheckOutcome {
  /** What was checked, with numbers: `5 pools`. */
  readonly seen: string
  /** The number of checked objects: a check without objects proves nothing. */
  readonly count: number
  readonly findings: readonly Finding[]
}

interface CheckDefinition {
  readonly id: string
  readonly title: string
  /** One sentence: what must be true. */
  readonly promise: string
  /** Kinds that the check requires. */
  readonly kinds: readonly GroupVersionKind[]
  /** Kinds that are read if available. */
  readonly optionalKinds?: readonly GroupVersionKind[]
}

/** Runs once per cloud. */
export interface CloudCheck extends CheckDefinition {
  readonly scope: 'cloud'
  readonly run: (context: CloudContext) => CheckOutcome
}

/** Runs once for the whole site. */
export interface SiteCheck extends CheckDefinition {
  readonly scope: 'site'
  readonly run: (context: SiteContext) => CheckOutcome
}

export type Check = CloudCheck | SiteCheck

export function locateObject({ apiVersion, kind, metadata }: KubeObject, path?: string): ObjectLocation {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }), ...(path !== undefined && { path }) }
}

/** The outcome of a check of `count` objects. */
export function outcome(count: number, noun: string, findings: readonly Finding[]): CheckOutcome {
  return { seen: formatCount(count, noun), count, findings }
}

/** `1 pool`, `5 pools`, `2 policies`, `3 addresses`. */
export function formatCount(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`
  if (/[^aeiou]y$/.test(noun)) return `${count} ${noun.slice(0, -1)}ies`
  return `${count} ${noun}${noun.endsWith('s') ? 'es' : 's'}`
}

export const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const
export const POD = { apiVersion: 'v1', kind: 'Pod' } as const
export const NODE = { apiVersion: 'v1', kind: 'Node' } as const
export const EVENT = { apiVersion: 'v1', kind: 'Event' } as const
export const POOL = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' } as const
export const L2_ADVERTISEMENT = { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' } as const
export const BGP_ADVERTISEMENT = { apiVersion: 'metallb.io/v1beta1', kind: 'BGPAdvertisement' } as const
export const ATTACHMENT = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' } as const
export const NET_CONFIG = { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' } as const
export const RESERVATION = { apiVersion: 'network.openstack.org/v1beta1', kind: 'Reservation' } as const
export const DATA_PLANE_SERVICE = {
  apiVersion: 'dataplane.openstack.org/v1beta1',
  kind: 'OpenStackDataPlaneService',
} as const
export const DNS_DATA = { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSData' } as const
export const WHEREABOUTS = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' } as const
export const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' } as const
export const ENACTMENT = { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' } as const
export const TUNED = { apiVersion: 'tuned.openshift.io/v1', kind: 'Tuned' } as const
export const PROFILE = { apiVersion: 'tuned.openshift.io/v1', kind: 'Profile' } as const
export const ENDPOINT = { apiVersion: 'keystone.openstack.org/v1beta1', kind: 'KeystoneEndpoint' } as const
export const ROUTE = { apiVersion: 'route.openshift.io/v1', kind: 'Route' } as const
export const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const
export const VOLUME = { apiVersion: 'v1', kind: 'PersistentVolume' } as const
export const STORAGE_CLASS = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' } as const
