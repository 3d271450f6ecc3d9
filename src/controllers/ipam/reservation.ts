/**
 * Reservations as infra-operator writes them: name, labels, owner, finalizer; and ipSetRef, which it forgets.
 *
 * Pure. They show what was given; what makes an address unique is the ledger.
 */
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { networkVersion } from '../../api/netconfig.ts'
import { sameJson } from '../../api/same-json.ts'

/** Today's name, and that of 2023. */
export const FINALIZERS: readonly string[] = ['openstack.org/ipset', 'IPSet']

export interface Given {
  readonly network: string
  readonly subnet: string
  readonly address: string
}

/** The Reservation as it must be, or undefined when the one that exists is right: then nothing is written. */
export function reservationFor(
  ipSet: IpSet,
  given: readonly Given[],
  existing: Reservation | undefined,
): Reservation | undefined {
  const { name, namespace = '', uid = '' } = ipSet.metadata
  const wanted = Object.fromEntries(given.map((one) => [one.network, one]))
  // What is reserved and not asked for any more stays, as upstream has it: removal is a person's decision.
  const reservation = { ...existing?.spec.reservation, ...wanted }
  const labels = {
    ...Object.fromEntries(given.map((one) => [`ipam.network.openstack.org/${one.network}`, one.subnet])),
    ...existing?.metadata.labels,
  }
  const owner = {
    ...ipSets,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  if (existing && isRight(existing, { reservation, labels, uid })) return undefined
  const others = existing?.metadata.ownerReferences?.filter((one) => one.kind !== 'IPSet') ?? []
  return {
    ...(existing ?? reservations),
    apiVersion: networkVersion,
    kind: 'Reservation',
    metadata: {
      ...(existing?.metadata ?? { name, namespace }),
      labels,
      finalizers: withFinalizer(existing?.metadata.finalizers),
      ownerReferences: [...others, owner],
    },
    spec: { ipSetRef: { ...ipSets, name, namespace, uid }, reservation },
  }
}

function isRight(
  existing: Reservation,
  { reservation, labels, uid }: { reservation: object; labels: object; uid: string },
): boolean {
  const { metadata, spec } = existing
  return (
    sameJson(spec.reservation ?? {}, reservation) &&
    sameJson(metadata.labels ?? {}, labels) &&
    hasFinalizer(metadata.finalizers) &&
    (metadata.ownerReferences ?? []).some((one) => one.kind === 'IPSet' && one.uid === uid)
  )
}

export function hasFinalizer(finalizers: readonly string[] | undefined): boolean {
  return finalizers?.some((one) => FINALIZERS.includes(one)) ?? false
}

export function withFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return hasFinalizer(finalizers) ? finalizers : [...finalizers, FINALIZERS[0] ?? '']
}

export function withoutFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.filter((one) => !FINALIZERS.includes(one))
}
