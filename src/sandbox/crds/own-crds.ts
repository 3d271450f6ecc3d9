/** Lists the CRDs of Stackloom, which replace the upstream CRDs of the same names in the sets `own` and `own-2023`. */
import { addressBlockKind } from '../../api/address-block.ts'
import { renderCrd } from '../../api/crd.ts'
import { dnsDataKind } from '../../api/dnsdata.ts'
import { dnsMasqKind } from '../../api/dnsmasq.ts'
import { ipSetKind, reservationKind } from '../../api/ipset.ts'
import { netConfigKind } from '../../api/netconfig-kind.ts'
import type { KubeObject } from '../../api/object.ts'
import { fallbackKinds, nodeServices, servedKinds } from '../../dataplane/service-definitions/all.ts'
import type { ServiceDefinition } from '../../dataplane/service-definitions/definition.ts'
import type { OwnDefinitions, OwnSet } from './crd-sets.ts'

const networkCrds: readonly KubeObject[] = [
  netConfigKind,
  ipSetKind,
  reservationKind,
  addressBlockKind,
  dnsDataKind,
  dnsMasqKind,
].map(renderCrd)

export function buildOwnCrds(services: readonly ServiceDefinition[]): Readonly<Record<OwnSet, OwnDefinitions>> {
  return {
    own: { ours: networkCrds, standIns: [] },
    'own-2023': {
      ours: [...networkCrds, ...servedKinds(services).map(renderCrd)],
      standIns: fallbackKinds(services).map(renderCrd),
    },
  }
}

export const ownCrds = buildOwnCrds(nodeServices)
