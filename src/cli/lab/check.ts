/** Defines `lab check`, which checks the lab file and, if it exists, the rendered tree. */
import type { Command } from 'commander'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import { sumResources } from '../../lab/check/budget.ts'
import { isRendered } from '../../lab/tree.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { type LabOptions, labOptions, type OpenedLab, openLab } from './lab-file.ts'

interface Options extends LabOptions {
  readonly output: Format
}

export function defineCheck(parent: Command, { io, act }: CommandContext): void {
  withExamples(labOptions(parent.command('check').description('Check the lab file before any VM exists')), [
    'stackloom lab check',
    'stackloom lab check -f lab.yaml -o json',
  ])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) =>
      act(async () => {
        const opened = await openLab(options, io)
        const findings = [...opened.findings, ...(await treeFindings(opened))]
        const totals = sumResources(opened.lab)
        if (options.output !== 'table') {
          io.stdout(await serialise({ lab: opened.lab.name, totals, findings }, options.output))
        } else {
          printFindings(findings, io)
          io.stdout(formatSummary(opened, findings))
        }
        return hasErrors(findings) ? 1 : 0
      }),
    )
}

async function treeFindings({ lab, folder }: OpenedLab): Promise<readonly Finding[]> {
  if (!isRendered(folder)) return []
  const [{ inspectTree }, { checkTree }, { runProcess }] = await Promise.all([
    import('../../lab/tree-store.ts'),
    import('../../lab/check/rendered-tree.ts'),
    import('../../exec/process.ts'),
  ])
  return checkTree(lab, await inspectTree(folder, runProcess))
}

function formatSummary({ lab }: OpenedLab, findings: readonly Finding[]): string {
  const { memory, cpus, osDisk, lvmDisk, osdDisk, stateDisk } = sumResources(lab)
  const count = (severity: string): number => findings.filter((finding) => finding.severity === severity).length
  const disks = [osDisk, lvmDisk, osdDisk, ...(stateDisk > 0 ? [stateDisk] : [])].join(' + ')
  return `${lab.name}: ${lab.nodes.length} nodes, ${memory} GiB RAM, ${cpus} vCPU, ${disks} GiB disk; ${count('error')} errors, ${count('warning')} warnings\n`
}
