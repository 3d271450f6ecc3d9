/** `sandbox start`: creates or restarts a sandbox and waits until it is ready. */
import { type Command, InvalidArgumentError } from 'commander'
import { Failure } from '../../errors/failure.ts'
import type { NodeRequest } from '../../sandbox/nodes/node-layout.ts'
import { crdSets } from '../../sandbox/settings.ts'
import type { StartRequest } from '../../sandbox/start-request.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
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
  readonly certManager?: boolean
  readonly olm?: boolean
  readonly openstack?: boolean
  readonly nics?: readonly string[]
  readonly file?: string
  readonly output: Format
}

export function defineStart(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    parent.command('start').description('Start a sandbox: build missing programs, start them, wait until ready'),
    [
      'stackloom sandbox start',
      'stackloom sandbox start --name fr6 --crd 18.0-fr6',
      'stackloom sandbox start --name two --netns --actors nmstate,olm --nodes worker-0,worker-1,worker-2',
      'stackloom sandbox start --name four --openstack -f site.yaml   # as root on Linux',
      'stackloom sandbox start --name three --pods -f site.yaml --actors nmstate   # as root on Linux',
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
      'simulate programs that cannot run here: kubelet,nmstate,olm,openstack,operators,services, or all',
      names,
    )
    .option('--nodes <names>', 'create these worker Nodes: worker-0,worker-1', names)
    .option('--pods', 'run pods: each node gets its own network, containerd, kubelet and kube-proxy (Linux, root)')
    .option('--no-pods', 'run no pods')
    .option('--cert-manager', 'run cert-manager, in a separate network namespace')
    .option('--no-cert-manager', 'run no cert-manager')
    .option('--olm', 'run OLM and a catalog of the operators, in a separate network namespace')
    .option('--no-olm', 'run no OLM')
    .option('--openstack', "run OpenStack's services behind each control plane (Linux, root)")
    .option('--no-openstack', "simulate OpenStack's services")
    .option('--nics <names>', 'with --pods, the NICs of each node: enp6s0,enp7s0 (default: enp6s0)', names)
    .option('-f, --file <file>', 'take the nodes and their NICs from this site file')
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
          const { nodes, nics } = await readNodes(options, io)
          const status = await startSandbox(
            { ...options, nodes, nics, ...(crds !== undefined && { crds }), ...(actors && { actors }) },
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

/** From the site file, or as the options say; an option wins. */
async function readNodes({ nodes, nics, file }: StartOptions, io: Io): Promise<Pick<StartRequest, 'nodes' | 'nics'>> {
  const fromSite = file === undefined ? [] : await readSiteNodes(file, io)
  const selected = nodes ?? (fromSite.length > 0 ? fromSite.map(({ name }) => name) : undefined)
  const listed = nics && Object.fromEntries(nics.entries())
  const known = fromSite.map((node): [string, Readonly<Record<string, string>>] => [node.name, node.nics])
  const byNode = listed ? (selected ?? []).map((name): [string, typeof listed] => [name, listed]) : known
  return { nodes: selected, nics: byNode.length > 0 ? Object.fromEntries(byNode) : undefined }
}

async function readSiteNodes(file: string, io: Io): Promise<readonly NodeRequest[]> {
  const { readSite } = await import('../../site/read.ts')
  const { site, findings } = readSite(await readInput(file, io, 'stackloom init'), file)
  if (!site) throw new Failure(findings)
  const { nodes, bonds } = site.cluster
  return nodes.map(({ name, nics }) => {
    // A bond is a NIC of the sandbox; its ports are NICs that are connected to nothing else.
    const ports = bonds.filter((bond) => Object.values(nics).includes(bond.name)).flatMap((bond) => bond.ports)
    return { name, nics: { ...nics, ...Object.fromEntries(ports.map((port) => [port, port])) } }
  })
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
