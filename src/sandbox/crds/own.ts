/**
 * The CRDs that Stackloom writes itself: in the set `own` each replaces the upstream one of the same name.
 *
 * A kind that we serve is added here; the API server judges its schema when the set is prepared.
 */
import { addressBlockKind } from '../../api/address-block.ts'
import { crdOf } from '../../api/crd.ts'
import { ipSetKind, reservationKind } from '../../api/ipset.ts'
import { netConfigKind } from '../../api/netconfig.ts'
import type { KubeObject } from '../../api/object.ts'

export const ownCrds: readonly KubeObject[] = [
  netConfigKind,
  ipSetKind,
  reservationKind,
  addressBlockKind,
].map(crdOf)
