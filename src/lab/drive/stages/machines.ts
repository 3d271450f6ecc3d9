/** `disks` and `vms`: what Lima has to have. Both look at the world each time and do only what is missing. */
import { failure } from '../../../errors/failure.ts'
import { diskShrinks, replaceLosesState, replaceNeedsConsent } from '../../findings/lab-run.ts'
import { keepsStateOnOsDisk, type LabNode } from '../../lab.ts'
import { instancePath } from '../../lima/instance.ts'
import { requireMacos, type World } from '../lima-state.ts'
import type { DriveContext, LabStage } from '../stage.ts'
import { run, type Step } from '../step.ts'
import { planVms, type VmAction } from '../vm-plan.ts'

const GIB = 1024 ** 3

export const disksStage: LabStage = {
  name: 'disks',
  after: [{ stage: 'host', why: 'limactl makes them' }],
  steps: async (context) => {
    requireMacos(context)
    const { lab, tools, world } = context
    const { disks } = await world()
    return lab.nodes
      .flatMap((node) => node.disks)
      .flatMap((disk): readonly Step[] => {
        const found = disks.get(disk.name)
        const size = `${disk.size}GiB`
        if (!found)
          return [run(tools.limactl('disk', 'create', disk.name, '--size', size), `${disk.name}, ${size}, raw`)]
        if (found.size === disk.size * GIB) return []
        if (found.size > disk.size * GIB) {
          const from = `${found.size / GIB}GiB`
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
    const world = await context.world()
    const actions = planVms(context.lab, (context.read('ssh/id_ed25519.pub') ?? '').trim(), world)
    refuseWithoutConsent(actions, context)
    const busy = actions.filter((action) => action.kind !== 'keep')
    return [
      ...unlockSteps(context, world),
      ...busy.flatMap((action) => vmSteps(action, context)),
      ...busy.map(({ node }) => run(context.tools.ssh(node, 'true'), `${node.name} answers`, { retry: context.retry })),
    ]
  },
}

/** A crash or a reboot leaves locks behind, and a VM whose disk is locked does not start. */
function unlockSteps({ lab, tools }: DriveContext, world: World): readonly Step[] {
  const own = new Set(lab.nodes.flatMap((node) => node.disks.map((disk) => disk.name)))
  return [...world.disks.values()]
    .filter((disk) => own.has(disk.name) && disk.instance !== '')
    .filter((disk) => world.instances.get(disk.instance)?.status !== 'Running')
    .map((disk) => run(tools.limactl('disk', 'unlock', disk.name), `${disk.name} is unlocked`))
}

function refuseWithoutConsent(actions: readonly VmAction[], { replace, backup }: DriveContext): void {
  const replaced = actions.filter((action) => action.kind === 'replace')
  const unasked = replaced.filter(({ node }) => !replace.includes(node.name))
  if (unasked.length > 0) {
    const nodes = unasked.map(({ node }) => node.name)
    const changes = unasked.map(({ node, fields }) => `${node.name}: ${fields.join(', ')}`).join('; ')
    throw failure(replaceNeedsConsent, { nodes, changes }, { exitCode: 1 })
  }
  const losing = replaced.find(({ node }) => keepsStateOnOsDisk(node))
  if (losing && backup === undefined) {
    throw failure(replaceLosesState, { node: losing.node.name }, { exitCode: 1 })
  }
}

function vmSteps(action: VmAction, context: DriveContext): readonly Step[] {
  const { node } = action
  const { tools } = context
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
          `${node.name}: ${action.fields.join(', ')} change; its disks stay`,
        ),
        startStep(node, context),
      ]
    case 'replace':
      return [
        ...(action.running ? [stop] : []),
        ...(keepsStateOnOsDisk(node) && context.backup !== undefined ? [recordRestore(context.backup)] : []),
        run(
          tools.limactl('delete', node.instance),
          `${node.name} is replaced (${action.fields.join(', ')}); its data disks stay`,
        ),
        run(['ssh-keygen', '-R', node.address, '-f', 'ssh/known_hosts'], `${node.name}'s old host key is forgotten`, {
          // No known host yet is as good.
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

/** Remembered before it is done: killed in between, the next run still knows that nothing is installed in the VM. */
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

function recordRestore(backup: string): Step {
  return { kind: 'note', update: (old) => ({ ...old, restore: backup }) }
}
