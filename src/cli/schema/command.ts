/** `stackloom schema`: prints the JSON Schema of site, lab and fleet files, for editors and other tools. */
import { Argument, type Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { type FileKind, fileKinds, fileSchema } from './file-schemas.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom schema > site.schema.json',
    'stackloom schema lab > lab.schema.json',
    'stackloom schema fleet > fleet.schema.json',
    '# then as the first line of site.yaml, for editors with the YAML language server:',
    '# yaml-language-server: $schema=./site.schema.json',
  ])
    .addArgument(new Argument('[kind]', 'the kind of file').choices(fileKinds).default('site' satisfies FileKind))
    .addOption(outputOption(['json', 'yaml'], 'json'))
    .action((kind: FileKind, { output }: { output: Format }) =>
      act(async () => {
        io.stdout(await serialise(await fileSchema(kind), output))
        return 0
      }),
    )
}
