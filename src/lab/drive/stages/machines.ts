/** Defines `disks` and `vms`. Both compare Lima's state with the lab on every run and do only what is missing. */
import { failure } from '../../../errors/failure.ts'
import { diskShrinks, replaceLosesState, replaceNeedsConsent } from '../../findings/lab-run.ts'
import { keepsStateOnOsDisk, type LabNode } from '../../lab.ts'
import { instancePath } from '../../lima/instance.ts'
import { isRunning, type LimaState, requireMacos } from '../lima-state.ts'
import { type DriveContext, type LabStage, run, type Step } from '../stage.ts'
import { planVms, type VmAction } from '../vm-plan.ts'

const GIB = 1024 ** 3

export const disksStage: LabStage = {
  name: 'disks',
  after: [{ stage: 'host', why: 'limactl creates them' }],
  steps: async (context) => {
    requireMacos(context)
    const { lab, tools } = context
    const { disks } = await context.readLima()
    return lab.nodes
      .flatMap((node) => node.disks)
      .flatMap((disk): readonly Step[] => {
        const existing = disks.get(disk.name)
        const size = `${disk.size}GiB`
        if (!existing)
          return [run(tools.limactl('disk', 'create', disk.name, '--size', size), `${disk.name}, ${size}, raw`)]
        if (existing.size === disk.size * GIB) return []
        if (existing.size > disk.size * GIB) {
          const from = `${existing.size / GIB}GiB`
          throw failure(diskShrinks, { disk: disk.name, from, to: size }, { exitCode: 1 })
        }
        return [run(tools.limactl('disk', 'resize', disk.name, '--size', size), `${disk.name} grows to ${size}`)]
      })
  },
}

export const vmsStage: LabStage = {
  name: 'vms',
  after: [{ stage: 'disks', why: 'a VM does not start without its disks' }],
  steps: async (context) => {
    requireMacos(context)
    const lima = await context.readLima()
    const actions = planVms(context, lima)
    refuseWithoutConsent(actions, context)
    const changes = actions.filter((action) => action.kind !== 'keep')
    return [
      ...unlockSteps(context, lima),
      ...changes.flatMap((action) => vmSteps(action, context)),
      ...changes.map(({ node }) =>
        run(context.tools.ssh(node, 'true'), `${node.name} answers`, { retry: context.retry }),
      ),
    ]
  },
}

/** A crash or a reboot leaves disks locked, and a VM with a locked disk does not start. */
function unlockSteps({ lab, tools }: DriveContext, lima: LimaState): readonly Step[] {
  const labDisks = new Set(lab.nodes.flatMap((node) => node.disks.map((disk) => disk.name)))
  return [...lima.disks.values()]
    .filter((disk) => labDisks.has(disk.name) && disk.instance !== '' && !isRunning(lima, disk.instance))
    .map((disk) => run(tools.limactl('disk', 'unlock', disk.name), `${disk.name} is unlocked`))
}

function refuseWithoutConsent(actions: readonly VmAction[], { replace, backup }: DriveContext): void {
  const replaced = actions.filter((action) => action.kind === 'replace')
  const notAllowed = replaced.filter(({ node }) => !replace.includes(node.name))
  if (notAllowed.length > 0) {
    const nodes = notAllowed.map(({ node }) => node.name)
    const changes = notAllowed.map(({ node, fields }) => `${node.name}: ${fields.join(', ')}`).join('; ')
    throw failure(replaceNeedsConsent, { nodes, changes }, { exitCode: 1 })
  }
  const losing = replaced.find(({ node }) => keepsStateOnOsDisk(node))
  if (losing && backup === undefined) {
    throw failure(replaceLosesState, { node: losing.node.name }, { exitCode: 1 })
  }
}

function vmSteps(action: VmAction, context: DriveContext): readonly Step[] {
  const { node } = action
  const { tools, backup } = context
  const stop = run(tools.limactl('stop', node.instance), `${node.name} stops`)
  switch (action.kind) {
    case 'keep':
      return []
    case 'start':
      return [startStep(node, context)]
    case 'create':
      return createSteps(node, context)
    case 'resize':
      return [
        ...(action.running ? [stop] : []),
        run(
          tools.limactl('edit', node.instance, '--set', sizeExpression(node)),
          `${node.name}: ${action.fields.join(', ')} change; its disks are kept`,
        ),
        startStep(node, context),
      ]
    case 'replace':
      return [
        ...(action.running ? [stop] : []),
        ...(keepsStateOnOsDisk(node) && backup !== undefined
          ? [{ kind: 'note', update: (old) => ({ ...old, restore: backup }) } satisfies Step]
          : []),
        run(
          tools.limactl('delete', node.instance),
          `${node.name} is replaced (${action.fields.join(', ')}); its data disks are kept`,
        ),
        // Fails when there is no known_hosts file yet.
        run(['ssh-keygen', '-R', node.address, '-f', 'ssh/known_hosts'], `remove ${node.name}'s old host key`, {
          mayFail: true,
        }),
        ...createSteps(node, context),
      ]
  }
}

function sizeExpression(node: LabNode): string {
  return `.cpus = ${node.cpus} | .memory = "${node.memory}GiB" | .disk = "${node.disk}GiB"`
}

function startStep(node: LabNode, { tools }: DriveContext): Step {
  return run(tools.limactl('start', node.instance, '--timeout', '20m'), `${node.name} starts`)
}

/** The generation is recorded first: after a kill in between, the next run still knows that the VM is empty. */
function createSteps(node: LabNode, context: DriveContext): readonly Step[] {
  return [
    {
      kind: 'note',
      update: (old) => ({
        ...old,
        generations: { ...old.generations, [node.name]: (old.generations[node.name] ?? 0) + 1 },
      }),
    },
    run(context.tools.limactl('create', `--name=${node.instance}`, instancePath(node)), `${node.name} is created`),
    startStep(node, context),
  ]
}
