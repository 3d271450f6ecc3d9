/** `stackloom schema`: prints the JSON Schema of site and lab files, for editors and other tools. */
import { Argument, type Command } from 'commander'
import type * as z from 'zod/v4/core'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'

type Kind = 'site' | 'lab'

const schemas: Readonly<Record<Kind, () => Promise<readonly [z.$ZodType, string]>>> = {
  site: async () => [(await import('../../api/site.ts')).siteSchema, 'Site'],
  lab: async () => [(await import('../../api/lab.ts')).labSchema, 'Lab'],
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom schema > site.schema.json',
    'stackloom schema lab > lab.schema.json',
    '# then as the first line of site.yaml, for editors with the YAML language server:',
    '# yaml-language-server: $schema=./site.schema.json',
  ])
    .addArgument(
      new Argument('[kind]', 'the kind of file').choices(Object.keys(schemas)).default('site' satisfies Kind),
    )
    .addOption(outputOption(['json', 'yaml'], 'json'))
    .action((kind: Kind, { output }: { output: Format }) =>
      act(async () => {
        const { toJsonSchema } = await import('../../api/json-schema.ts')
        io.stdout(await serialise(toJsonSchema(...(await schemas[kind]())), output))
        return 0
      }),
    )
}
