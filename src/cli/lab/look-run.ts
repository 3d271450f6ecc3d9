/** What `lab status` and `lab doctor` do: ask the tools, and tell. Nothing is changed. */
import type { ExitCode } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { diagnose, gatherFacts } from '../../lab/drive/lab-doctor.ts'
import { type LabStatus, readLabStatus } from '../../lab/drive/lab-status.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { createReadOnlyContext } from './driving.ts'
import type { OpenedLab } from './lab-file.ts'
import type { LookOptions } from './look.ts'

export async function printStatus(opened: OpenedLab, { output }: LookOptions, io: Io): Promise<ExitCode> {
  const status = await readLabStatus(await createReadOnlyContext(opened, io))
  io.stdout(output === 'table' ? formatStatus(status, io.columns) : await serialise(status, output))
  return 0
}

function formatStatus({ nodes, stages, disk }: LabStatus, columns: number): string {
  const rows = nodes.map((node) => [
    node.name,
    node.status,
    node.address,
    node.usedGiB === undefined ? '-' : `${node.usedGiB}`,
    `${node.nominalGiB}`,
    node.next,
  ])
  const glance = disk.glanceGiB === undefined ? '' : `, of which Glance ${disk.glanceGiB} GiB`
  return `${formatTable(['NODE', 'STATUS', 'ADDRESS', 'USED GiB', 'NOMINAL GiB', 'NEXT'], rows, columns)}
disk: ${disk.usedGiB} of ${disk.nominalGiB} GiB used${glance}
stages: ${stages.map(({ name, state }) => `${name} ${state}`).join(', ')}
`
}

export async function printDiagnosis(opened: OpenedLab, { output }: LookOptions, io: Io): Promise<ExitCode> {
  const findings = diagnose(await gatherFacts(await createReadOnlyContext(opened, io), Date.now))
  if (output === 'table') {
    io.stderr(formatFindings(findings, io.colour.stderr))
    const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`
    io.stdout(findings.length === 0 ? `${opened.lab.name} is well\n` : `${count}\n`)
  } else io.stdout(await serialise({ lab: opened.lab.name, findings }, output))
  return hasErrors(findings) ? 1 : 0
}
