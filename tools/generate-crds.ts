/**
 * Writes what Stackloom knows of the pinned control plane CRDs to `data/crds/`. With `--check` it writes nothing and
 * fails on a difference. Needs Go, for the pinned modules.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { buildCrdFields, type CrdFields, readSlotTable } from '../src/plan/slots/slot-table.ts'
import type { Era, SlotTable } from '../src/plan/slots/slots.ts'
import { ensureCrds } from '../src/sandbox/crds/crd-sets.ts'
import { sandboxContext } from '../test/sandbox-context.ts'

const CONTROL_PLANES = 'openstackcontrolplanes.core.openstack.org'

export interface DataFile {
  readonly file: string
  readonly text: string
}

/** The generated files of one set of CRDs. */
export async function generatedCrd(set: Era): Promise<readonly DataFile[]> {
  const { crds } = await ensureCrds(set, async () => ({ ours: [], standIns: [] }), sandboxContext())
  const crd = crds.find(({ metadata }) => metadata.name === CONTROL_PLANES)
  const read = readSlotTable(crd, CONTROL_PLANES)
  if (read.kind === 'refused') throw new Error(read.findings.map((finding) => finding.message).join('\n'))
  return dataFiles(set, read.table, buildCrdFields(read.schema))
}

export function dataFiles(set: Era, { crd, slots, services }: SlotTable, fields: CrdFields): readonly DataFile[] {
  const table = `{"crd":${JSON.stringify(crd)},"slots":${lines(slots)},"services":${lines(services)}}\n`
  return [
    { file: `data/crds/${set}/slots.json`, text: table },
    { file: `data/crds/${set}/fields.json`, text: `{"root":${fields.root},"nodes":${lines(fields.nodes)}}\n` },
  ]
}

/** One item per line, so that a difference shows what changed. */
function lines(items: readonly unknown[]): string {
  return `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`
}

if (import.meta.url === `file://${process.argv[1]}`) {
  for (const { file, text } of [...(await generatedCrd('today')), ...(await generatedCrd('2023'))]) {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    if (process.argv.includes('--check')) {
      console.error(`${file} is not what the pinned CRD says`)
      process.exitCode = 1
    } else {
      writeFileSync(file, text)
    }
  }
}
