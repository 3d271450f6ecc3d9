/** `sandbox image build`: builds the images that pods of a sandbox run. */
import { Argument, type Command } from 'commander'
import type { BuiltImage } from '../../sandbox/images/ensure-images.ts'
import { type ImageName, imageNames } from '../../sandbox/images/image-table.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { sandboxContext } from './context.ts'
import { progressPrinter } from './progress-printer.ts'

export function defineImage(parent: Command, context: CommandContext): void {
  const image = parent.command('image').description('Build the images that pods of a sandbox run')
  defineBuild(image, context)
}

function defineBuild(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    parent
      .command('build')
      .description("Build images from this machine's Debian packages, without a registry; unchanged ones are cached"),
    [
      'stackloom sandbox image build',
      'stackloom sandbox image build operator -o json',
      'ctr -n k8s.io images import "$(stackloom sandbox image build probe -o name)"   # into another containerd',
    ],
  )
    .addArgument(new Argument('[images...]', 'the images; all by default').choices(imageNames))
    .addOption(outputOption(['table', 'json', 'yaml', 'name']))
    .action((names: readonly ImageName[], { output }: { output: Format }) =>
      act(async () => {
        const { ensureImages } = await import('../../sandbox/images/ensure-images.ts')
        const { notify, end } = progressPrinter(io)
        try {
          const images = await ensureImages(names.length > 0 ? names : imageNames, sandboxContext(io, notify))
          end()
          io.stdout(await printImages(images, output, io))
          return 0
        } finally {
          end()
        }
      }),
    )
}

async function printImages(images: readonly BuiltImage[], output: Format, io: Io): Promise<string> {
  if (output === 'name') return images.map(({ archive }) => `${archive}\n`).join('')
  if (output !== 'table') return serialiseResult({ images }, output)
  const rows = images.map(({ name, size, digest, reference }) => [
    name,
    `${Math.ceil(size / 1_000_000)} MB`,
    digest.slice(0, 'sha256:'.length + 12),
    reference,
  ])
  return formatTable(['IMAGE', 'SIZE', 'DIGEST', 'REFERENCE'], rows, io.columns, io.colour.stdout)
}
