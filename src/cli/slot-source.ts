/** Reads a slot table: built in, from a file with the CRD, or from the cluster. */
import { Failure } from '../errors/failure.ts'
import { hasErrors } from '../errors/finding.ts'
import { readSlotTable, type SlotTableResult } from '../plan/slots/slot-table.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { type ClusterFlags, openCluster } from './cluster.ts'
import { readInput } from './files.ts'
import type { Io } from './io.ts'

/** `today`, `2023`, `live`, or a file. */
export async function slotTableFrom(source: string, io: Io, live: () => Promise<SlotTable>): Promise<SlotTable> {
  if (source === 'today' || source === '2023') {
    const { builtInTable } = await import('../plan/slots/built-in-crds.ts')
    return builtInTable(source)
  }
  if (source === 'live') return live()
  const { readYaml } = await import('../yaml/read.ts')
  const { value, findings } = readYaml(await readInput(source, io), source)
  if (hasErrors(findings)) throw new Failure(findings, 2)
  return requireTable(readSlotTable(value, source))
}

/** The table of the CRD that a cluster has now. */
export async function liveSlotTable(flags: ClusterFlags, io: Io): Promise<SlotTable> {
  const connection = await openCluster(flags, io)
  try {
    const crd = await connection.client.get({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: 'openstackcontrolplanes.core.openstack.org',
    })
    return requireTable(readSlotTable(crd, connection.server))
  } finally {
    await connection.close()
  }
}

function requireTable(result: SlotTableResult): SlotTable {
  if (result.kind === 'refused') throw new Failure(result.findings, 2)
  return result.table
}
