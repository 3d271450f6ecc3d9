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
    ],
  )
    .argument('<command...>', 'the command; it sees the current folder')
    .requiredOption('--cloud <cloud>', 'the cloud, by its name or namespace')
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .action((command: readonly string[], { cloud, name }: { cloud: string; name: string }) =>
      act(async () => {
        const { sandboxStatus } = await import('../../sandbox/sandbox.ts')
        const { runAsClient } = await import('../../sandbox/openstack/client.ts')
        const { ensureRootFileSystem, openstackRoot } = await import('../../sandbox/hosts/root-file-system.ts')
        const context = sandboxContext(io)
        const { clouds = [] } = await sandboxStatus(name, context)
        const root = await ensureRootFileSystem(openstackRoot, context)
        const code = await runAsClient({ clouds, cloud, sandbox: name, root, cwd: io.cwd, command })
        return code as ExitCode
      }),
    )
}
