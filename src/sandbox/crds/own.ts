/**
 * The CRDs that Stackloom writes itself: in the sets `own` and `own-2023` each replaces the upstream one of the same
 * name.
 *
 * A kind that we serve is added here; the API server judges its schema when the set is prepared.
 */
import { addressBlockKind } from '../../api/address-block.ts'
import { ansibleRunKind } from '../../api/ansibleee.ts'
import { crdOf } from '../../api/crd.ts'
import { dataPlaneKind } from '../../api/dataplane.ts'
import { dataPlaneNodeKind } from '../../api/dataplane-node.ts'
import { dataPlaneRoleKind } from '../../api/dataplane-role.ts'
import { dataPlaneServiceKind } from '../../api/dataplane-service.ts'
import { dnsDataKind } from '../../api/dnsdata.ts'
import { dnsMasqKind } from '../../api/dnsmasq.ts'
import { ipSetKind, reservationKind } from '../../api/ipset.ts'
import { netConfigKind } from '../../api/netconfig.ts'
import { novaExternalComputeKind } from '../../api/nova-external-compute.ts'
import type { KubeObject } from '../../api/object.ts'
import { ovnMetadataAgentKind } from '../../api/ovn-metadata-agent.ts'
import type { OwnSet } from './sets.ts'

const networkCrds: readonly KubeObject[] = [
  netConfigKind,
  ipSetKind,
  reservationKind,
  addressBlockKind,
  dnsDataKind,
  dnsMasqKind,
].map(crdOf)

const dataPlaneCrds: readonly KubeObject[] = [
  dataPlaneKind,
  dataPlaneRoleKind,
  dataPlaneNodeKind,
  dataPlaneServiceKind,
  novaExternalComputeKind,
  ovnMetadataAgentKind,
  ansibleRunKind,
].map(crdOf)

export const ownCrds: Readonly<Record<OwnSet, readonly KubeObject[]>> = {
  own: networkCrds,
  'own-2023': [...networkCrds, ...dataPlaneCrds],
}
