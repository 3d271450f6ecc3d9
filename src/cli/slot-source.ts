/** Reads a slot table: of a known release, from CRDs in a file or a folder, or from the cluster. */
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { isRecord } from '../api/json.ts'
import { Failure } from '../errors/failure.ts'
import { hasErrors } from '../errors/finding.ts'
import { findRelease } from '../plan/release/releases.ts'
import { readSlotTables, type SlotTableResult } from '../plan/slots/slot-table.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { type ClusterFlags, openCluster } from './cluster.ts'
import { readInput } from './files.ts'
import type { Io } from './io.ts'

/** `live`, a release, a file with CRDs, or a folder of such files. A release wins over a file of its name. */
export async function slotTableFrom(source: string, io: Io, live: () => Promise<SlotTable>): Promise<SlotTable> {
  if (source === 'live') return live()
  if (findRelease(source)) {
    const { builtInTable } = await import('../plan/slots/built-in-crds.ts')
    return builtInTable(source)
  }
  const crds: unknown[] = []
  for (const file of await listFiles(source, io)) crds.push(...(await readDocuments(file, io)))
  return requireTable(readSlotTables(crds, source))
}

async function listFiles(source: string, io: Io): Promise<readonly string[]> {
  const folder = path.resolve(io.cwd, source)
  const isFolder = await stat(folder).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
  if (!isFolder) return [source]
  const names = await readdir(folder)
  return names
    .filter((name) => /\.(?:json|ya?ml)$/.test(name))
    .sort()
    .map((name) => path.join(source, name))
}

/** A file with one CRD, a List, or several documents. */
async function readDocuments(file: string, io: Io): Promise<readonly unknown[]> {
  const text = await readInput(file, io)
  const { readYamlStream } = await import('../yaml/read.ts')
  const readings = readYamlStream(text, file)
  const findings = readings.flatMap((reading) => reading.findings)
  if (hasErrors(findings)) throw new Failure(findings, 2)
  return readings.flatMap(({ value }) => (isRecord(value) && Array.isArray(value['items']) ? value['items'] : [value]))
}

/** The table of the CRDs that a cluster has now. */
export async function liveSlotTable(flags: ClusterFlags, io: Io): Promise<SlotTable> {
  const connection = await openCluster(flags, io)
  try {
    const { readReleaseCrds } = await import('../deploy/cluster-release.ts')
    return requireTable(readSlotTables(await readReleaseCrds(connection.client), connection.server))
  } finally {
    await connection.close()
  }
}

function requireTable(result: SlotTableResult): SlotTable {
  if (result.kind === 'refused') throw new Failure(result.findings, 2)
  return result.table
}
