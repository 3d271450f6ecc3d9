/** `sandbox exec`: runs a command as a client of a cloud whose services run in a sandbox. */
import type { Command } from 'commander'
import type { ExitCode } from '../../errors/failure.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { DEFAULT_NAME, sandboxContext } from './context.ts'

export function defineExec(parent: Command, { io, act }: CommandContext): void {
  withExamples(
    parent
      .command('exec')
      .description("Run a command on the networks of a cloud, with OpenStack's client (--openstack)"),
    [
      'stackloom access --cloud rhoso1 && stackloom sandbox exec --cloud rhoso1 -- openstack --os-cloud rhoso1 token issue',
      'stackloom sandbox exec --cloud rhoso1 -- curl -s https://keystone-internal.openstack.svc:5000/v3',
      'stackloom sandbox exec --cloud rhoso1 --local -- stackloom verify --ask-endpoints --cloud rhoso1',
    ],
  )
    .argument('<command...>', 'the command; it sees the current folder')
    .requiredOption('--cloud <cloud>', 'the cloud, by its name or namespace')
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .option('--local', 'with the programs and files of this machine, and the API server of the sandbox')
    .action((command: readonly string[], { cloud, name, local }: { cloud: string; name: string; local?: boolean }) =>
      act(async () => {
        const { sandboxStatus } = await import('../../sandbox/sandbox.ts')
        const { runAsClient, runLocally } = await import('../../sandbox/openstack/client.ts')
        const { ensureRootFileSystem, openstackRoot } = await import('../../sandbox/hosts/root-file-system.ts')
        const context = sandboxContext(io)
        const { clouds = [], server } = await sandboxStatus(name, context)
        const request = { clouds, cloud, sandbox: name, command }
        if (local) {
          const apiPort = Number(new URL(server).port)
          return (await runLocally({ ...request, self: context.self, apiPort })) as ExitCode
        }
        const root = await ensureRootFileSystem(openstackRoot, context)
        return (await runAsClient({ ...request, root, cwd: io.cwd })) as ExitCode
      }),
    )
}

/** Hidden: runs a command in a network to which it forwards the API server. */
export function defineInside(parent: Command, { act }: CommandContext): void {
  parent
    .command('inside', { hidden: true })
    .argument('<port>')
    .argument('<socket>')
    .argument('<command...>')
    .action((port: string, socket: string, command: readonly string[]) =>
      act(async () => {
        const { runInside } = await import('../../sandbox/openstack/client.ts')
        return (await runInside(Number(port), socket, command)) as ExitCode
      }),
    )
}
