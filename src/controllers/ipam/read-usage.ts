/** Reports the use of the hosts' subnets from the objects of a cluster, as `stackloom ipam status` does. Pure. */
import type { AddressBlock } from '../../api/address-block.ts'
import type { IpSet, Reservation } from '../../api/ipset.ts'
import type { NetConfig } from '../../api/netconfig.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { readReservationLedger } from './ipset-observer.ts'
import { readHolders } from './ledger.ts'
import { buildUsageReport, type SubnetReport } from './usage-report.ts'

export function readUsage(index: Pick<SnapshotIndex, 'all'>): readonly SubnetReport[] {
  const objects = {
    netConfigs: index.all('network.openstack.org/NetConfig') as readonly NetConfig[],
    ipSets: index.all('network.openstack.org/IPSet') as readonly IpSet[],
  }
  const blocks = index.all('stackloom.dev/AddressBlock') as readonly AddressBlock[]
  const reservations = index.all('network.openstack.org/Reservation') as readonly Reservation[]
  // Without AddressBlocks infra-operator assigned the addresses: its Reservations are the ledger.
  const ledger = blocks.length > 0 ? undefined : readReservationLedger({ ...objects, reservations })
  return buildUsageReport({
    ...objects,
    held: ledger?.held ?? blocks.flatMap(readHolders),
    ...(ledger && { findCauses: (ipSet: IpSet) => ledger.findingsFor(ipSet).map(({ message }) => message) }),
  })
}
