/**
 * Reservations as infra-operator writes them: name, labels, owner, finalizer; and ipSetRef, which it forgets.
 *
 * Pure. They show what was given; what makes an address unique is the ledger.
 */
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { networkVersion } from '../../api/netconfig.ts'
import { sameJson } from '../../api/same-json.ts'

/** Today's name, and that of 2023. */
export const IPSET_FINALIZERS: readonly string[] = ['openstack.org/ipset', 'IPSet']

export interface AllocatedAddress {
  readonly network: string
  readonly subnet: string
  readonly address: string
}

/** The Reservation as it must be, or undefined when the one that exists is right: then nothing is written. */
export function buildReservation(
  ipSet: IpSet,
  given: readonly AllocatedAddress[],
  existing: Reservation | undefined,
): Reservation | undefined {
  const { name, namespace = '', uid = '' } = ipSet.metadata
  const wanted = Object.fromEntries(given.map((given) => [given.network, given]))
  // What is reserved and not asked for any more stays, as upstream has it: removal is a person's decision.
  const reservation = { ...existing?.spec.reservation, ...wanted }
  const labels = {
    ...Object.fromEntries(given.map((given) => [`ipam.network.openstack.org/${given.network}`, given.subnet])),
    ...existing?.metadata.labels,
  }
  const owner = {
    ...ipSets,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  if (existing && isUpToDate(existing, { reservation, labels, uid })) return undefined
  const others = existing?.metadata.ownerReferences?.filter((ownerReference) => ownerReference.kind !== 'IPSet') ?? []
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

function isUpToDate(
  existing: Reservation,
  { reservation, labels, uid }: { reservation: object; labels: object; uid: string },
): boolean {
  const { metadata, spec } = existing
  return (
    sameJson(spec.reservation ?? {}, reservation) &&
    sameJson(metadata.labels ?? {}, labels) &&
    hasFinalizer(metadata.finalizers) &&
    (metadata.ownerReferences ?? []).some(
      (ownerReference) => ownerReference.kind === 'IPSet' && ownerReference.uid === uid,
    )
  )
}

export function hasFinalizer(finalizers: readonly string[] | undefined): boolean {
  return finalizers?.some((finalizer) => IPSET_FINALIZERS.includes(finalizer)) ?? false
}

export function withFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return hasFinalizer(finalizers) ? finalizers : [...finalizers, IPSET_FINALIZERS[0] ?? '']
}

export function withoutFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.filter((finalizer) => !IPSET_FINALIZERS.includes(finalizer))
}
