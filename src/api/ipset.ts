/** IPSet (requests addresses) and Reservation (shows what was granted), network.openstack.org/v1beta1: kinds and rules. Pure. */
import * as z from 'zod'
import { type Family, parseAddress } from '../net/address.ts'
import { parsePrefixed } from '../net/cidr.ts'
import type { KindDefinition } from './crd.ts'
import {
  createSubnetFinder,
  type NetConfigSpec,
  type NetConfigSubnet,
  networkCidr,
  networkGroup,
  networkVersion,
  parseMember,
  positionsByName,
  type Report,
  uniqueNames,
} from './netconfig.ts'
import { addressText, networkName, routeSchema, serviceNetworkName } from './netconfig-kind.ts'
import type { Condition, SpecObject } from './object.ts'
import type { Violation } from './violation.ts'

/** Of one IPSet, and so of its Reservation. */
const MAX_NETWORKS = 256

const ipSetSpecSchema = z.object({
  immutable: z.boolean().default(false),
  networks: z
    .array(
      z.object({
        name: networkName,
        subnetName: networkName,
        fixedIP: addressText.optional(),
        defaultRoute: z.boolean().optional(),
      }),
    )
    .max(MAX_NETWORKS),
})

export const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  severity: z.string().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.string().meta({ format: 'date-time' }),
})

const ipReservationSchema = z.object({
  network: networkName,
  subnet: networkName,
  address: z.string(),
  dnsDomain: z.string().optional(),
  mtu: z.int().optional(),
  cidr: z.string().optional(),
  vlan: z.int().optional(),
  gateway: z.string().optional(),
  routes: z.array(routeSchema).optional(),
  serviceNetwork: serviceNetworkName.optional(),
})

export type IpSetSpec = z.infer<typeof ipSetSpecSchema>
export type IpSetNetwork = IpSetSpec['networks'][number]
export type IpReservation = z.infer<typeof ipReservationSchema>

export interface IpSetStatus {
  readonly conditions?: readonly Condition[]
  readonly observedGeneration?: number
  readonly reservations?: readonly IpReservation[]
}

export type IpSet = SpecObject<IpSetSpec, IpSetStatus>

export function isIpSetReady({ status }: IpSet): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}

export const ipSets = { apiVersion: networkVersion, kind: 'IPSet' } as const

export const ipSetKind: KindDefinition = {
  ...networkGroup,
  kind: 'IPSet',
  plural: 'ipsets',
  scope: 'Namespaced',
  spec: ipSetSpecSchema,
  status: z.object({
    conditions: z.array(conditionSchema).optional(),
    observedGeneration: z.int().meta({ format: 'int64' }).optional(),
    reservations: z.array(ipReservationSchema).optional(),
  }),
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Ready' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
    // Upstream's column reads a field that does not exist; the name is kept and the path corrected.
    { name: 'Reservation', type: 'string', jsonPath: '.status.reservations', description: 'Reservation' },
  ],
}

const reservationSpecSchema = z.object({
  ipSetRef: z
    .object({
      apiVersion: z.string().optional(),
      kind: z.string().optional(),
      name: z.string().optional(),
      namespace: z.string().optional(),
      uid: z.string().optional(),
      fieldPath: z.string().optional(),
      resourceVersion: z.string().optional(),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' }),
  reservation: z
    .record(z.string(), z.object({ network: networkName, subnet: networkName, address: addressText }))
    .meta({ maxProperties: MAX_NETWORKS }),
})

export type ReservationSpec = z.infer<typeof reservationSpecSchema>
export type Reservation = SpecObject<ReservationSpec>

export const reservations = { apiVersion: networkVersion, kind: 'Reservation' } as const

export const reservationKind: KindDefinition = {
  ...networkGroup,
  kind: 'Reservation',
  plural: 'reservations',
  scope: 'Namespaced',
  spec: reservationSpecSchema,
  status: z.object({}),
  columns: [{ name: 'Reservation', type: 'string', jsonPath: '.spec.reservation', description: 'Reservation' }],
}

/** The rules beyond the schema, for webhook and controller. */
export function ipSetViolations(spec: IpSetSpec, netConfig: NetConfigSpec): readonly Violation[] {
  const violations: Violation[] = []
  const report: Report = (field, value, detail, rule = 'upstream') => violations.push({ field, value, detail, rule })
  const checkName = uniqueNames(report)
  const defaultRoutes = new Set<Family>()
  const findSubnet = createSubnetFinder(netConfig)
  spec.networks.forEach((request, index) => {
    const field = `spec.networks[${index}]`
    checkName(request.name, `${field}.name`)
    const { network, subnet } = findSubnet(request.name, request.subnetName)
    if (!network) return report(`${field}.name`, request.name, `network ${request.name} not in NetConfig`)
    if (!subnet) {
      return report(
        `${field}.subnetName`,
        request.subnetName,
        `subnet ${request.subnetName} not in network ${request.name} of the NetConfig`,
      )
    }
    checkFixedAddress(request, subnet, field, report)
    checkDefaultRoute(request, subnet, { field, report, defaultRoutes })
  })
  return violations
}

function checkFixedAddress(request: IpSetNetwork, subnet: NetConfigSubnet, field: string, report: Report): void {
  const prefixed = parsePrefixed(subnet.cidr)
  if (request.fixedIP === undefined || !prefixed) return
  parseMember(networkCidr(prefixed), subnet.cidr, request.fixedIP, `${field}.fixedIP`, report)
}

interface RouteCheck {
  readonly field: string
  readonly report: Report
  readonly defaultRoutes: Set<Family>
}

function checkDefaultRoute(
  request: IpSetNetwork,
  subnet: NetConfigSubnet,
  { field, report, defaultRoutes }: RouteCheck,
): void {
  if (!request.defaultRoute) return
  const family = parsePrefixed(subnet.cidr)?.address.family
  if (family !== undefined && defaultRoutes.has(family)) {
    // The spelling is upstream's.
    report(`${field}.defaultRoute`, true, `${family} defaultRoute can only be requested on a singe network`)
  }
  if (family !== undefined) defaultRoutes.add(family)
  if (!subnet.gateway) {
    // The spelling is upstream's.
    report(`${field}.defaultRoute`, true, `defaultRoute requested, but not configured for subnet ${subnet.name}`)
  }
}

/** The changes that are always refused: to remove or to move a network. */
export function ipSetChangeViolations(spec: IpSetSpec, old: IpSetSpec): readonly Violation[] {
  const positions = positionsByName(spec.networks)
  return old.networks.flatMap((before): readonly Violation[] => {
    const index = positions.get(before.name) ?? -1
    const after = spec.networks[index]
    const refuse = (field: string, value: unknown, detail: string): readonly Violation[] => [
      { field, value, detail, rule: 'upstream' },
    ]
    const field = `spec.networks[${index}]`
    if (!after) return refuse('spec.networks', before.name, `network ${before.name} removed`)
    if (after.subnetName !== before.subnetName) {
      return refuse(
        `${field}.subnetName`,
        after.subnetName,
        `subnet within a network must not change (${before.name}/${before.subnetName})`,
      )
    }
    if (after.fixedIP !== before.fixedIP) return refuse(`${field}.fixedIP`, after.fixedIP, 'fixedIP must not change')
    if (after.defaultRoute !== before.defaultRoute) {
      return refuse(`${field}.defaultRoute`, after.defaultRoute, 'defaultRoute must not change')
    }
    return []
  })
}

export type FixedIpProblem = (request: IpSetNetwork, subnet: NetConfigSubnet) => string | undefined

/**
 * Why a fixedIP cannot be assigned although it is valid: a warning at admission. Whether it is held by another IPSet is in
 * the ledger. The excluded addresses of a subnet are parsed once.
 */
export function createFixedIpCheck(): FixedIpProblem {
  const excludedBySubnet = new Map<NetConfigSubnet, ReadonlySet<string>>()
  const keyFor = (text: string | undefined): string | undefined => {
    const address = text === undefined ? undefined : parseAddress(text)
    return address && `${address.family} ${address.value}`
  }
  return (request, subnet) => {
    const fixed = keyFor(request.fixedIP)
    if (fixed === undefined) return undefined
    const excluded =
      excludedBySubnet.get(subnet) ?? new Set((subnet.excludeAddresses ?? []).flatMap((text) => keyFor(text) ?? []))
    excludedBySubnet.set(subnet, excluded)
    if (excluded.has(fixed)) return `FixedIP ${request.fixedIP} is in ExcludeAddresses`
    if (fixed === keyFor(subnet.gateway)) return `FixedIP ${request.fixedIP} is the gateway of subnet ${subnet.name}`
    return undefined
  }
}
