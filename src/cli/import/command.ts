/** `stackloom import`: writes a site file from what exists already, and reports what in it cannot work. */
import { type Command, Option } from 'commander'
import { wrongUse } from '../../errors/common.ts'
import { Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { Imported } from '../../site/import/imported-site.ts'
import { type ClusterFlags, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { writeNewFile, writeOutput } from '../files.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { repeatable } from '../repeatable.ts'
import { importFrom } from './sources.ts'

const sourceKinds = ['install-yamls', 'architecture', 'cluster'] as const
type ImportSourceKind = (typeof sourceKinds)[number]

export interface ImportOptions extends ClusterFlags {
  readonly source: ImportSourceKind
  /** A folder of dumps instead of a live cluster. */
  readonly from?: string
  readonly name?: string
  readonly node?: readonly string[]
  readonly cloud?: readonly string[]
  readonly out?: string
  readonly into?: string
  readonly overwrite?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom import --source install-yamls rhoso1-config.env rhoso2-config.env --out site.yaml',
    'stackloom import --source architecture control-plane/nncp/values.yaml --cloud rhoso1=openstack',
    'stackloom import --source cluster --context prod --out site.yaml',
    'stackloom import --source cluster --from must-gather/',
    'stackloom import --source cluster -n openstack3 --into site.yaml',
  ])
    .argument('[files...]', 'environment files, or values files and folders of them; - for stdin; one cloud each')
    .addOption(new Option('--source <kind>', 'kind of the source to read').choices(sourceKinds))
    .option('--from <dir>', 'cluster: read a folder of dumps instead of a live cluster')
    .addOption(new Option('--from-dir <dir>').hideHelp())
    .option('--name <name>', 'name of the site', 'imported')
    .option('--node <name=nic>', 'install-yamls: a node and its NIC; may be repeated', repeatable)
    .option('--cloud <name=namespace>', 'architecture: name and namespace of the cloud, one per file', repeatable)
    .option('--out <file>', 'write the site file instead of printing it')
    .addOption(
      new Option('--into <file>', 'add the clouds to this site file and keep everything else in it').conflicts('out'),
    )
    .option('--overwrite', 'overwrite the file if it exists')
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
  withClusterFlags(command).action((files: readonly string[], given: GivenOptions) =>
    act(async () => {
      const options = parseSource(given)
      if (options.source === 'cluster' ? files.length > 0 : files.length === 0) {
        const reason =
          options.source === 'cluster'
            ? 'a cluster is not read from files; --from DIR reads a folder of manifests or dumps'
            : 'no files given'
        throw failure(wrongUse, { reason, command: 'stackloom import' })
      }
      const imported = await importFrom(files, options, io)
      if (imported.text === undefined || hasErrors(imported.findings)) throw new Failure(imported.findings, 1)
      printFindings(imported.findings, io)
      if (options.into !== undefined) {
        await writeOutput(options.into, imported.text, io, { replace: true })
        io.stderr(`the clouds are added to ${options.into}. Next: stackloom plan -f ${options.into}\n`)
      } else if (options.out === undefined) io.stdout(await formatImported(imported, options.output))
      else {
        await writeNewFile(options.out, imported.text, io, options.overwrite === true, '--out')
        io.stderr(`${options.out} is written. Next: stackloom plan -f ${options.out}\n`)
      }
      return 0
    }),
  )
}

type GivenOptions = Omit<ImportOptions, 'source'> &
  Partial<Pick<ImportOptions, 'source'>> & { readonly fromDir?: string }

/** Until 0.1, `--from` named the kind of source and `--from-dir` the folder; both are still understood. */
function parseSource({ source, from, fromDir, ...options }: GivenOptions): ImportOptions {
  const formerKind = sourceKinds.find((kind) => kind === from)
  const dump = fromDir ?? (formerKind === undefined ? from : undefined)
  const kind = source ?? formerKind ?? (dump === undefined ? undefined : 'cluster')
  if (kind !== undefined) return { ...options, source: kind, ...(dump !== undefined && { from: dump }) }
  const reason = `name the kind of source with --source: ${sourceKinds.join(', ')}`
  throw failure(wrongUse, { reason, command: 'stackloom import' })
}

async function formatImported({ text = '', findings }: Imported, output: Format): Promise<string> {
  if (output === 'yaml') return text
  const { readYaml } = await import('../../yaml/read.ts')
  return serialise({ site: readYaml(text, 'site.yaml').value, findings }, output)
}
