/** `sandbox start`: creates or restarts a sandbox and waits until it is ready. */
import { type Command, InvalidArgumentError } from 'commander'
import { crdSets } from '../../sandbox/settings.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption } from '../output/format.ts'
import { DEFAULT_NAME, sandboxContext } from './context.ts'
import { progressPrinter } from './progress-printer.ts'
import { printStatus } from './state.ts'

interface StartOptions {
  readonly name: string
  readonly crd?: string
  readonly netns?: boolean
  readonly port?: number
  readonly actors?: readonly string[]
  readonly nodes?: readonly string[]
  readonly pods?: boolean
  readonly nics?: readonly string[]
  readonly output: Format
}

export function defineStart(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    parent.command('start').description('Start a sandbox: build missing programs, start them, wait until ready'),
    [
      'stackloom sandbox start',
      'stackloom sandbox start --name fr6 --crd 18.0-fr6',
      'stackloom sandbox start --name two --netns --actors nmstate,olm --nodes worker-0,worker-1,worker-2',
      'stackloom sandbox start --name three --pods --nodes worker-0,worker-1 --actors nmstate   # as root on Linux',
    ],
  )
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .option(
      '--crd <source>',
      `${crdSets.join(', ')}, a release, or a folder with CRDs; fixed at the first start (default: today, the newest ` +
        'release of this machine)',
    )
    .option('--netns', 'use a separate network namespace, so that nothing listens on your interfaces')
    .option('--no-netns', 'use the network of this machine')
    .option('--port <port>', 'loopback port of the API server (default: a free port, which is kept)', portNumber)
    .option(
      '--actors <names>',
      'simulate programs that cannot run here: kubelet,nmstate,olm,openstack,services, or all',
      names,
    )
    .option('--nodes <names>', 'create these worker Nodes: worker-0,worker-1', names)
    .option('--pods', 'run pods: each node gets its own network, containerd, kubelet and kube-proxy (Linux, root)')
    .option('--no-pods', 'run no pods')
    .option('--nics <names>', 'with --pods, the NICs of each node: enp6s0,enp7s0 (default: enp6s0)', names)
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: StartOptions) =>
      act(async () => {
        const { startSandbox } = await import('../../sandbox/sandbox.ts')
        const { locateCrds } = await import('../../sandbox/crds/release-folders.ts')
        const { notify, end } = progressPrinter(io)
        const context = sandboxContext(io, notify)
        const crds = options.crd === undefined ? undefined : await locateCrds(options.crd, io.cwd, context.paths)
        try {
          const actors = await actorNames(options.actors)
          const status = await startSandbox(
            { ...options, ...(crds !== undefined && { crds }), ...(actors && { actors }) },
            context,
          )
          end()
          printFindings(status.findings, io)
          io.stdout(await printStatus(status, options.output, io))
          return 0
        } finally {
          end()
        }
      }),
    )
}

function portNumber(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidArgumentError('must be 1 to 65535.')
  return port
}

function names(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '')
}

/** Checks the names now: an unknown actor would only make the background process restart repeatedly. */
async function actorNames(requested: readonly string[] | undefined): Promise<readonly string[] | undefined> {
  if (!requested) return undefined
  const { actors, resolveActors } = await import('../../sandbox/actors/registry.ts')
  if (requested.includes('all')) return Object.keys(actors)
  resolveActors(requested)
  return requested
}
