/** `stackloom schema`: the JSON Schema of a site file, for editors and other checkers. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom schema > site.schema.json',
    '# then as the first line of site.yaml, for editors with the YAML language server:',
    '# yaml-language-server: $schema=./site.schema.json',
  ])
    .addOption(outputOption(['json', 'yaml'], 'json'))
    .action(({ output }: { output: Format }) =>
      act(async () => {
        const { jsonSchemaOf } = await import('../../api/json-schema.ts')
        const { siteSchema } = await import('../../api/site.ts')
        io.stdout(await serialise(jsonSchemaOf(siteSchema, 'Site'), output))
        return 0
      }),
    )
}
