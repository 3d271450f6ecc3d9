/** IPSet and Reservation (network.openstack.org/v1beta1): who asks for addresses, and what was given. */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import { networkGroup, networkName, networkVersion, routeSchema, serviceNetworkName } from './netconfig.ts'
import type { Condition, SpecObject } from './object.ts'

const ipSetSpecSchema = z.object({
  immutable: z.boolean().default(false),
  networks: z.array(
    z.object({
      name: networkName,
      subnetName: networkName,
      fixedIP: z.string().optional(),
      defaultRoute: z.boolean().optional(),
    }),
  ),
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
    // Upstream's column reads a field that does not exist; the name is kept, the path is right.
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
  reservation: z.record(z.string(), z.object({ network: networkName, subnet: networkName, address: z.string() })),
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
