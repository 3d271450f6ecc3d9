/** `stackloom version`: prints the version of the program and the releases of the OpenStack operators that it knows. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { programVersion } from '../program-version.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, ['stackloom version', 'stackloom version -o json'])
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action(({ output }: { output: Format }) =>
      act(async () => {
        const { loadReleases } = await import('../../plan/release/releases.ts')
        const version = programVersion()
        const node = process.version
        const platform = `${process.platform}/${process.arch}`
        const releases = loadReleases().map(({ name }) => name)
        io.stdout(
          output === 'table'
            ? `stackloom ${version}\nNode.js   ${node} ${platform}\nreleases  ${releases.join(', ')}\n`
            : await serialiseResult({ version, node, platform, releases }, output),
        )
        return 0
      }),
    )
}
