/** `stackloom sandbox`: runs a cluster of real programs on this machine. */
import type { Command } from 'commander'
import { runProcess } from '../../exec/process.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { defineExec, defineInside } from './exec.ts'
import { defineImage } from './image.ts'
import { defineLogs } from './logs.ts'
import { defineStart } from './start.ts'
import { defineKubeconfig, defineReset, defineStatus, defineStop } from './state.ts'

export function define(command: Command, context: CommandContext): void {
  withExamples(command, [
    'stackloom sandbox start',
    'kubectl --kubeconfig "$(stackloom sandbox kubeconfig)" get ipaddresspools -A',
    'stackloom sandbox start --name old --crd 2023 --netns',
    'stackloom sandbox stop',
  ])
  for (const add of [
    defineStart,
    defineStop,
    defineStatus,
    defineKubeconfig,
    defineReset,
    defineLogs,
    defineExec,
    defineImage,
    defineSupervise,
    defineAct,
    defineInside,
  ]) {
    add(command, context)
  }
}

/** Hidden: the supervisor process of a sandbox. Loads only what it needs, because it must start fast and runs for long. */
function defineSupervise(parent: Command, { act }: CommandContext): void {
  parent
    .command('supervise', { hidden: true })
    .argument('<folder>')
    .action((folder: string) =>
      act(async () => {
        const { sandboxFolder } = await import('../../sandbox/folder.ts')
        const { supervise } = await import('../../sandbox/supervisor.ts')
        await supervise(sandboxFolder(folder))
        return 0
      }),
    )
}

interface ActOptions {
  readonly kubeconfig: string
  readonly nodeRecord?: string
  readonly real?: string
  readonly openstackRoot?: string
  readonly openstackFolder?: string
}

/** Hidden: the process that runs the actors. */
function defineAct(parent: Command, { io, act }: CommandContext): void {
  parent
    .command('act', { hidden: true })
    .requiredOption('--kubeconfig <file>')
    .option('--node-record <file>')
    .option('--real <names>', 'programs that run, so that nothing simulates them')
    .option('--openstack-root <dir>')
    .option('--openstack-folder <dir>')
    .argument('<names...>')
    .action((names: readonly string[], { kubeconfig, nodeRecord, real, openstackRoot, openstackFolder }: ActOptions) =>
      act(async () => {
        const { connect } = await import('../../kube/connect.ts')
        const { runActors } = await import('../../sandbox/actors/registry.ts')
        const connection = await connect({ kubeconfig, env: {} })
        const log = (entry: object): void => io.stderr(`${JSON.stringify(entry)}\n`)
        const { createConfigureNode } = await import('../../sandbox/nodes/configure-node.ts')
        const configureNode = nodeRecord === undefined ? undefined : await createConfigureNode(nodeRecord, runProcess)
        const { createClouds } = await import('../../sandbox/openstack/clouds.ts')
        const openstack =
          openstackRoot === undefined || openstackFolder === undefined
            ? undefined
            : createClouds({ root: openstackRoot, folder: openstackFolder })
        const deps = { configureNode, openstack }
        await runActors({ connection, names, real: real?.split(',') ?? [], signal: io.stop, log, ...deps })
        await openstack?.stop()
        await connection.close()
        return 0
      }),
    )
}
