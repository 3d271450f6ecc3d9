/** `sandbox image build`: builds the images that pods of a sandbox run, and loads them into its nodes. */
import { Argument, type Command } from 'commander'
import { wrongUse } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import type { BuiltImage } from '../../sandbox/images/ensure-images.ts'
import { type ImageName, imageNames } from '../../sandbox/images/image-table.ts'
import type { ImageNode } from '../../sandbox/images/load-image.ts'
import type { SandboxContext } from '../../sandbox/sandbox.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { DEFAULT_NAME, sandboxContext } from './context.ts'
import { progressPrinter } from './progress-printer.ts'

interface BuildOptions {
  readonly load?: boolean
  readonly name: string
  readonly output: Format
}

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
      'stackloom sandbox image build --load              # and load them into the nodes of a sandbox with --pods',
      'stackloom sandbox image build operator -o json',
      'ctr -n k8s.io images import "$(stackloom sandbox image build probe -o name)"   # into another containerd',
    ],
  )
    .addArgument(new Argument('[images...]', 'the images; all by default').choices(imageNames))
    .option('--load', 'load them into the nodes of the sandbox, which runs with --pods')
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .addOption(outputOption(['table', 'json', 'yaml', 'name']))
    .action((names: readonly ImageName[], { load, name, output }: BuildOptions) =>
      act(async () => {
        const { loadImages } = await import('../../sandbox/images/load-image.ts')
        const { notify, end } = progressPrinter(io)
        const context = sandboxContext(io, notify)
        try {
          const nodes = load ? await findNodes(name, context) : []
          const images = await loadImages(names.length > 0 ? names : imageNames, nodes, context)
          end()
          io.stdout(await printImages(images, output, io))
          return 0
        } finally {
          end()
        }
      }),
    )
}

async function findNodes(name: string, context: SandboxContext): Promise<readonly ImageNode[]> {
  const { sandboxStatus } = await import('../../sandbox/sandbox.ts')
  const { nodes, running } = await sandboxStatus(name, context)
  if (nodes && running) return nodes.map((node) => ({ name: node.name, socket: node.containerd }))
  const reason = nodes ? `sandbox ${name} is not running` : `sandbox ${name} has no nodes that run pods`
  throw failure(wrongUse, { reason, command: 'stackloom sandbox image build' })
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
