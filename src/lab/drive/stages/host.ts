/** `host`: the tools and their versions, Lima's networks, and whether Lima may start socket_vmnet. */
import path from 'node:path'
import { type Failure, failure } from '../../../errors/failure.ts'
import { type ProcessResult, succeeded } from '../../../exec/process.ts'
import { editYaml } from '../../../yaml/edit.ts'
import { readYaml } from '../../../yaml/read.ts'
import { writeYaml } from '../../../yaml/write.ts'
import { limaNetworkConflict, sudoersStale, toolTooOld } from '../../findings/lab-run.ts'
import { buildsImages, type Lab } from '../../lab.ts'
import { LIMA_VERSION } from '../../lima/instance.ts'
import { buildLimaNetworks } from '../../lima/networks.ts'
import type { DriveContext, LabStage } from '../stage.ts'
import { run, type Step } from '../step.ts'

export const hostStage: LabStage = {
  name: 'host',
  after: [],
  steps: async (context) => {
    const { tools, system, lab } = context
    const version = (tool: string, least: string, ...args: string[]): Step =>
      run([tool, ...args], `${tool} is ${least} or newer`, { checkOutput: atLeast(tool, least) })
    const common = [
      version('python3', '3.11.0', '--version'),
      run(['ssh', '-V'], 'ssh is there'),
      version('tofu', '1.5.0', 'version'),
      ...(buildsImages(lab) ? [version('docker', '18.9.0', 'version', '--format', '{{.Server.Version}}')] : []),
    ]
    if (system !== 'darwin') return common
    return [
      version('limactl', LIMA_VERSION, '--version'),
      version(`qemu-system-${lab.arch}`, '8.2.1', '--version'),
      ...common,
      ...networkSteps(context),
      run(tools.limactl('sudoers', '--check'), 'limactl may start socket_vmnet', {
        checkOutput: sudoersJudge(lab),
      }),
    ]
  },
}

function atLeast(tool: string, least: string): (finished: ProcessResult) => Failure | undefined {
  return ({ exit, stdout, stderr }) => {
    const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(`${stdout} ${stderr}`)
    // A development build without a number passes: it cannot be compared.
    if (!succeeded(exit) || !found) return undefined
    const have = found.slice(1).map((part) => Number(part ?? 0))
    const want = least.split('.').map(Number)
    const at = want.findIndex((part, index) => part !== (have[index] ?? 0))
    if (at < 0 || (have[at] ?? 0) > (want[at] ?? 0)) return undefined
    return failure(toolTooOld, { tool, found: found[0], least }, { exitCode: 1 })
  }
}

function sudoersJudge(lab: Lab): (finished: ProcessResult) => Failure | undefined {
  return ({ exit }) => {
    if (succeeded(exit)) return undefined
    const home = lab.host.storage === undefined ? '' : `LIMA_HOME=${path.join(lab.host.storage, 'lima')} `
    const command = `${home}limactl sudoers | sudo tee ${sudoersPath(lab)}`
    return failure(sudoersStale, { command }, { exitCode: 1 })
  }
}

/** A Lima home of its own must not fight with another one over one file. */
function sudoersPath(lab: Lab): string {
  return lab.host.storage === undefined ? '/private/etc/sudoers.d/lima' : `/private/etc/sudoers.d/lima-${lab.name}`
}

/** networks.yaml belongs to all VMs of a Lima home: the lab's networks are added, nothing else is touched. */
function networkSteps({ lab, tools, read }: DriveContext): readonly Step[] {
  const file = 'networks.yaml'
  const folder = path.join(tools.limaHome, '_config')
  const old = read(path.join(folder, file))
  const text = mergeNetworks(old, lab, path.join(folder, file))
  if (text === old) return []
  return [
    {
      kind: 'write',
      description: `networks of the lab in ${path.join(folder, file)}`,
      folder,
      file: { path: file, text },
    },
  ]
}

function mergeNetworks(old: string | undefined, lab: Lab, file: string): string {
  const wanted = buildLimaNetworks(lab)
  if (old === undefined) return writeYaml({ paths: pathsOf(lab), group: 'admin', networks: wanted })
  const { value } = readYaml(old, file)
  const known = (value as { networks?: Record<string, Record<string, unknown>> } | null)?.networks ?? {}
  for (const [network, want] of Object.entries(wanted)) {
    const have = known[network]
    const wrong = have && Object.entries(want).find(([key, setting]) => String(have[key]) !== setting)
    if (wrong) {
      const why = `its ${wrong[0]} is ${String(have[wrong[0]])} and should be ${wrong[1]}`
      throw failure(limaNetworkConflict, { network, file, why }, { exitCode: 1 })
    }
  }
  const missing = Object.entries(wanted).filter(([network]) => !(network in known))
  return editYaml(
    old,
    missing.map(([network, setting]) => ({ path: ['networks', network], value: setting })),
  )
}

function pathsOf(lab: Lab): object {
  return {
    socketVMNet: '/opt/socket_vmnet/bin/socket_vmnet',
    varRun: '/private/var/run/lima',
    sudoers: sudoersPath(lab),
  }
}
