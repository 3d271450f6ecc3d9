/** `stackloom init`: writes a commented starter file, from questions in a terminal, from options, or from defaults. */
import path from 'node:path'
import { type Command, Option } from 'commander'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { refuseExisting, writeNewFile } from '../files.ts'
import { openPrompter, type Prompter } from '../questions.ts'
import { schemaFileName, writeSchema } from '../schema/schema-file.ts'
import { siteFileOption } from '../site-file.ts'
import type { InitOptions } from './answers.ts'

interface Options extends InitOptions {
  readonly file: string
  readonly overwrite?: boolean
}

const collect = (word: string, before: readonly string[] = []): readonly string[] => [...before, word]

export function define(command: Command, { io, act }: CommandContext, questions?: Prompter): void {
  withExamples(command, [
    'stackloom init                                  # asks, then writes site.yaml',
    'stackloom init --node worker-0=enp6s0 --cloud rhoso1=openstack --cloud rhoso2=openstack2',
    'stackloom init --platform kubernetes -f -       # to stdout',
  ])
    .addOption(siteFileOption('file to write, - for stdout'))
    .option('--name <name>', 'name of the site')
    .addOption(new Option('--platform <platform>', 'platform of the cluster').choices(['openshift', 'kubernetes']))
    .option('--node <name=nic>', 'node and its NIC; may be repeated', collect)
    .option(
      '--cloud <name=namespace>',
      'cloud and its namespace, which is its name by default; may be repeated',
      collect,
    )
    .option('--families <list>', 'IP versions: 4, 6 or 4,6')
    .addOption(new Option('--isolation <mode>', 'how clouds are isolated').choices(['vlan-per-cloud', 'shared-vlan']))
    .option('--dns <address>', 'DNS server for the clouds; may be repeated', collect)
    .option('--storage-class <name>', 'storage class of the clouds')
    .option('--overwrite', 'overwrite the file if it exists')
    .action((options: Options) =>
      act(async () => {
        const { file, overwrite = false } = options
        // Before the first question, so that no answer is lost.
        if (file !== '-') refuseExisting(file, io, overwrite)
        const { gatherAnswers } = await import('./answers.ts')
        const { renderStarterSite } = await import('../../site/starter.ts')
        const { readSite } = await import('../../site/read.ts')
        const ask = questions ?? (await openPrompter(io.interactive))
        const { answers, assumed } = await gatherAnswers(options, ask)
        const schema = schemaFileName(file)
        const text = renderStarterSite(answers, schema)
        const { findings } = readSite(text, file)
        if (hasErrors(findings)) throw new Failure(findings, 2)
        if (assumed.length > 0)
          io.stderr(`assumed, because no option gives it:\n${assumed.map((line) => `  ${line}\n`).join('')}`)
        if (schema === undefined) io.stdout(text)
        else {
          await writeNewFile(file, text, io, overwrite)
          await writeSchema('site', path.join(path.dirname(file), schema), io)
          io.stderr(`${file} is written. Next: stackloom plan -f ${file}\n`)
        }
        return 0
      }),
    )
}
