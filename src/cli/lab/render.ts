/** Defines `lab render`. */
import type { Command } from 'commander'
import type { TreeChange } from '../../lab/tree-changes.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { type LabOptions, labOptions, openValidLab, printWarnings } from './lab-file.ts'

interface Options extends LabOptions {
  readonly overwrite?: boolean
  readonly dryRun?: boolean
  readonly output: Format
}

export function defineRender(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    labOptions(
      parent.command('render').description('Render VMs, networks, Kolla configuration, TLS, DNS and Terraform'),
    ),
    ['stackloom lab render --out osl', 'stackloom lab render --dry-run      # show what would change'],
  )
    .option('--overwrite', 'overwrite files that were edited by hand')
    .option('--dry-run', 'show the changes and write nothing')
    .addOption(outputOption(['table', 'json', 'yaml', 'name']))
    .action((options: Options) =>
      act(async () => {
        const opened = await openValidLab(options, io)
        const { lab, folder, displayFolder } = opened
        printWarnings(opened, io)
        const { renderLab } = await import('../../lab/render-lab.ts')
        const { changes, made } = await renderLab(lab, folder, { ...options, now: Date.now() })
        if (options.output === 'json' || options.output === 'yaml') {
          const files = changes.map((change) => ({ kind: change.kind, path: changedPath(change) }))
          io.stdout(await serialiseResult({ folder: displayFolder, made, files }, options.output, opened.findings))
        } else {
          const shown = options.output === 'name' ? changes : changes.filter((change) => change.kind !== 'unchanged')
          io.stdout(shown.map((change) => formatChange(change, options.output)).join(''))
          const { dryRun = false } = options
          if (made.length > 0) io.stderr(`${dryRun ? 'would generate' : 'generated'}: ${made.join(', ')}\n`)
          io.stderr(`${displayFolder}: ${formatCounts(changes)}${dryRun ? ' (dry run: nothing was written)' : ''}\n`)
        }
        return 0
      }),
    )
}

function changedPath(change: TreeChange): string {
  return change.kind === 'removed' ? change.path : change.file.path
}

function formatChange(change: TreeChange, format: Format): string {
  if (format === 'name') return `${changedPath(change)}\n`
  return `${change.kind.padEnd(9)} ${changedPath(change)}\n`
}

function formatCounts(changes: readonly TreeChange[]): string {
  const kinds = ['created', 'changed', 'edited', 'removed', 'unchanged'] as const
  const parts = kinds.flatMap((kind) => {
    const number = changes.filter((change) => change.kind === kind).length
    return number > 0 ? [`${number} ${kind}`] : []
  })
  return parts.join(', ')
}
