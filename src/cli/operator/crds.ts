/** The CustomResourceDefinitions of the kinds that the operator works with. */
import { addressBlockKind } from '../../api/address-block.ts'
import { crdOf } from '../../api/crd.ts'
import { ipSetKind, reservationKind } from '../../api/ipset.ts'
import { netConfigKind } from '../../api/netconfig.ts'
import type { KubeObject } from '../../api/object.ts'

/** Stackloom's own: upstream has nothing like it. */
export const ledgerCrds: readonly KubeObject[] = [crdOf(addressBlockKind)]

/** The same names and fields as upstream's, which are used where they are installed. */
export const networkCrds: readonly KubeObject[] = [netConfigKind, ipSetKind, reservationKind].map(crdOf)
