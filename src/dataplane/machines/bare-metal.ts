/**
 * Chooses metal3 machines (BareMetalHost) for nodes whose role is not preProvisioned, and builds their claims (phase -1).
 *
 * Pure. A claim is a single write against the version that was read, and only on a machine without a consumerRef.
 */

import { objectKey, type SpecObject } from '../../api/object.ts'
import type { BaremetalTemplate, HardwareReqs } from '../kinds/baremetal-template.ts'
import { type DataPlaneNode, type DataPlaneRole, dataPlaneNodes } from '../kinds/data-plane.ts'

export const bareMetalHosts = { apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost' } as const
export const byConsumer = 'consumer'
export const DEFAULT_MACHINE_NAMESPACE = 'openshift-machine-api'

export interface BareMetalHostSpec {
  readonly online?: boolean
  readonly consumerRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
  readonly image?: { readonly url: string; readonly checksum?: string; readonly checksumType?: string }
  readonly userData?: { readonly name: string; readonly namespace: string }
  readonly networkData?: { readonly name: string; readonly namespace: string }
  readonly automatedCleaningMode?: string
  readonly [field: string]: unknown
}

export interface BareMetalHostStatus {
  readonly provisioning?: { readonly state?: string }
  readonly hardware?: {
    readonly cpu?: { readonly arch?: string; readonly count?: number; readonly clockMegahertz?: number }
    readonly ramMebibytes?: number
    readonly storage?: readonly {
      readonly sizeBytes?: number
      readonly rotational?: boolean
      readonly type?: string
    }[]
  }
}

export type BareMetalHost = SpecObject<BareMetalHostSpec, BareMetalHostStatus>

export type MachineState =
  | { readonly kind: 'not-needed' }
  /** `host` is absent until one is claimed. */
  | { readonly kind: 'awaited'; readonly why: string; readonly host?: BareMetalHost }
  | { readonly kind: 'provisioned'; readonly host: BareMetalHost }

export function consumerKeys({ spec }: BareMetalHost): readonly string[] {
  const { kind, namespace, name = '' } = spec.consumerRef ?? {}
  return kind === dataPlaneNodes.kind ? [objectKey({ name, ...(namespace !== undefined && { namespace }) })] : []
}

/** A node uses machines in its own namespace, and in those that the administrator allows. */
export function mayUseMachines(node: DataPlaneNode, namespace: string, allowed: readonly string[]): boolean {
  return namespace === node.metadata.namespace || allowed.includes(namespace)
}

/** The template of a role whose nodes need machines. */
export function machineTemplate(role: DataPlaneRole | undefined): BaremetalTemplate | undefined {
  return role?.spec.preProvisioned ? undefined : role?.spec.baremetalSetTemplate
}

export function resolveMachine(
  role: DataPlaneRole | undefined,
  findClaimed: () => BareMetalHost | undefined,
): MachineState {
  if (!machineTemplate(role)) return { kind: 'not-needed' }
  const host = findClaimed()
  if (!host) return { kind: 'awaited', why: 'no machine is claimed yet' }
  const state = host.status?.provisioning?.state ?? 'unknown'
  if (state === 'provisioned') return { kind: 'provisioned', host }
  return { kind: 'awaited', why: `BareMetalHost ${host.metadata.name} is ${state}`, host }
}

export type MachineChoice =
  | { readonly kind: 'found'; readonly host: BareMetalHost }
  | { readonly kind: 'none'; readonly seen: number; readonly why: string }

/** The first free machine, by name, that fits. */
export function chooseMachine(hosts: readonly BareMetalHost[], template: BaremetalTemplate): MachineChoice {
  const namespace = template.bmhNamespace ?? DEFAULT_MACHINE_NAMESPACE
  const here = hosts.filter(({ metadata }) => metadata.namespace === namespace)
  const labelled = here.filter(({ metadata }) =>
    Object.entries(template.bmhLabelSelector ?? {}).every(([key, value]) => metadata.labels?.[key] === value),
  )
  const free = labelled.filter(isFree)
  const fitting = free.filter(({ status }) => fitsHardware(status?.hardware ?? {}, template.hardwareReqs ?? {}))
  const [host] = fitting.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  if (host) return { kind: 'found', host }
  const why =
    here.length === 0
      ? 'there are none'
      : labelled.length === 0
        ? 'none has the labels'
        : free.length === 0
          ? 'all are claimed or not available'
          : 'none has the hardware'
  return { kind: 'none', seen: here.length, why }
}

function isFree({ spec, status, metadata }: BareMetalHost): boolean {
  const state = status?.provisioning?.state
  return !spec.consumerRef && !spec.image && !metadata.deletionTimestamp && (state === 'available' || state === 'ready')
}

type Hardware = NonNullable<BareMetalHostStatus['hardware']>

function fitsHardware(hardware: Hardware, required: HardwareReqs): boolean {
  const memory = required.memReqs?.gbReq
  return (
    fitsProcessor(hardware.cpu ?? {}, required.cpuReqs ?? {}) &&
    isSufficient(Math.floor((hardware.ramMebibytes ?? 0) / 1024), memory?.gb, memory?.exactMatch) &&
    fitsDisks(hardware.storage ?? [], required.diskReqs ?? {})
  )
}

function fitsProcessor(
  { arch, count, clockMegahertz }: NonNullable<Hardware['cpu']>,
  required: NonNullable<HardwareReqs['cpuReqs']>,
): boolean {
  const { countReq, mhzReq } = required
  return (
    (required.arch === undefined || required.arch === arch) &&
    isSufficient(count, countReq?.count, countReq?.exactMatch) &&
    isSufficient(clockMegahertz, mhzReq?.mhz, mhzReq?.exactMatch)
  )
}

/** One disk of the size is enough. Its type counts only with exactMatch. */
function fitsDisks(
  disks: NonNullable<Hardware['storage']>,
  { gbReq, ssdReq }: NonNullable<HardwareReqs['diskReqs']>,
): boolean {
  const sizes = disks.map(({ sizeBytes = 0 }) => Math.floor(sizeBytes / 2 ** 30))
  if (gbReq?.gb !== undefined && !sizes.some((size) => isSufficient(size, gbReq.gb, gbReq.exactMatch))) return false
  if (ssdReq?.ssd === undefined || !ssdReq.exactMatch) return true
  return ssdReq.ssd === disks.some(({ rotational, type }) => type === 'SSD' || type === 'NVME' || rotational === false)
}

function isSufficient(value = 0, required: number | undefined, exact = false): boolean {
  return required === undefined || (exact ? value === required : value >= required)
}

export function withClaim(
  host: BareMetalHost,
  node: DataPlaneNode,
  template: BaremetalTemplate,
  secrets: { readonly userData: string; readonly networkData: string },
): BareMetalHost {
  const { namespace = '', name } = node.metadata
  const image = template.osImage ?? ''
  const machineNamespace = host.metadata.namespace ?? ''
  return {
    ...host,
    spec: {
      ...host.spec,
      online: true,
      consumerRef: { ...dataPlaneNodes, namespace, name },
      image: { url: image, checksum: `${image}.sha256`, checksumType: 'sha256' },
      userData: { name: secrets.userData, namespace: machineNamespace },
      networkData: { name: secrets.networkData, namespace: machineNamespace },
      automatedCleaningMode: template.automatedCleaningMode ?? 'metadata',
    },
  }
}

export function withoutClaim(host: BareMetalHost): BareMetalHost {
  const { consumerRef: _, image: __, userData: ___, networkData: ____, ...spec } = host.spec
  return { ...host, spec: { ...spec, online: false } }
}
