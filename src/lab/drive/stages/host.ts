/** Defines `host`, `deployer` and `images`: the stages that prepare this machine before any VM is needed. */
import path from 'node:path'
import { getString } from '../../../api/raw-object.ts'
import { dataPath, readData } from '../../../data/data.ts'
import { type Failure, failure } from '../../../errors/failure.ts'
import { quoteShellWord } from '../../../errors/shell-words.ts'
import { type ProcessResult, succeeded } from '../../../exec/process.ts'
import { editYaml } from '../../../yaml/edit.ts'
import { readYaml } from '../../../yaml/read.ts'
import { writeYaml } from '../../../yaml/write.ts'
import { limaNetworkConflict, socketVmnetUnusable, sudoersStale, toolTooOld } from '../../findings/lab-run.ts'
import { imageTag } from '../../kolla/release.ts'
import { buildsImages, type Lab } from '../../lab.ts'
import { LIMA_VERSION } from '../../lima/instance.ts'
import { buildLimaNetworks } from '../../lima/networks.ts'
import { type DriveContext, type LabStage, run, type Step } from '../stage.ts'

export const hostStage: LabStage = {
  name: 'host',
  after: [],
  steps: async (context) => {
    const { tools, system, lab } = context
    const version = (tool: string, minimum: string, ...args: string[]): Step =>
      run([tool, ...args], `${tool} is ${minimum} or newer`, { checkOutput: requireVersion(tool, minimum) })
    const common = [
      version('python3', '3.11.0', '--version'),
      run(['ssh', '-V'], 'ssh is installed'),
      version(tools.terraform, '1.5.0', 'version'),
      ...(buildsImages(lab) ? [version('docker', '18.9.0', 'version', '--format', '{{.Server.Version}}')] : []),
    ]
    if (system !== 'darwin') return common
    return [
      version('limactl', LIMA_VERSION, '--version'),
      version(`qemu-system-${lab.arch}`, '8.2.1', '--version'),
      ...common,
      ...networkSteps(context),
      socketVmnetStep(context),
      run(tools.limactl('sudoers', '--check'), 'limactl may start socket_vmnet', {
        checkOutput: ({ exit }) => (succeeded(exit) ? undefined : staleSudoers(lab)),
      }),
    ]
  },
}

/** Where the release archive of socket_vmnet installs it, owned by root as Lima demands. */
const SOCKET_VMNET = '/opt/socket_vmnet/bin/socket_vmnet'

/** Lists the parts of the path that Lima refuses: not owned by root, writable for all, or links. */
function socketVmnetStep({ tools, read }: DriveContext): Step {
  const { value } = readYaml(read(path.join(tools.limaHome, '_config/networks.yaml')) ?? '', 'networks.yaml')
  const program = getString(value, 'paths', 'socketVMNet') ?? SOCKET_VMNET
  const names = program.split('/').slice(1)
  const parts = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  const refused = ['(', '!', '-user', 'root', '-o', '-perm', '-o=w', '-o', '-type', 'l', ')']
  return run(['find', ...parts, '-maxdepth', '0', ...refused], 'socket_vmnet belongs to root', {
    checkOutput: ({ exit, stdout }) => {
      const [part] = stdout.trim().split('\n')
      if (succeeded(exit) && !part) return undefined
      const why = part ? `${part} is a link, or others than root may replace it` : 'it is not installed'
      return failure(socketVmnetUnusable, { path: program, why }, { exitCode: 1 })
    },
  })
}

function requireVersion(tool: string, minimum: string): (result: ProcessResult) => Failure | undefined {
  return ({ exit, stdout, stderr }) => {
    const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(`${stdout} ${stderr}`)
    // A development build without a version number cannot be compared, so it passes.
    if (!succeeded(exit) || !match) return undefined
    const found = match.slice(1).map((part) => Number(part ?? 0))
    const required = minimum.split('.').map(Number)
    const differs = required.findIndex((part, index) => part !== (found[index] ?? 0))
    if (differs < 0 || (found[differs] ?? 0) > (required[differs] ?? 0)) return undefined
    return failure(toolTooOld, { tool, found: match[0], least: minimum }, { exitCode: 1 })
  }
}

function staleSudoers(lab: Lab): Failure {
  const home = lab.host.storage === undefined ? '' : `LIMA_HOME=${quoteShellWord(path.join(lab.host.storage, 'lima'))} `
  return failure(sudoersStale, { command: `${home}limactl sudoers | sudo tee ${sudoersPath(lab)}` }, { exitCode: 1 })
}

/** Each Lima home needs a sudoers file of its own, because `limactl sudoers` prints the networks of one home. */
function sudoersPath(lab: Lab): string {
  return lab.host.storage === undefined ? '/private/etc/sudoers.d/lima' : `/private/etc/sudoers.d/lima-${lab.name}`
}

/** networks.yaml is shared by all VMs of a Lima home: the lab's networks are added, and nothing else changes. */
function networkSteps({ lab, tools, read }: DriveContext): readonly Step[] {
  const folder = path.join(tools.limaHome, '_config')
  const file = path.join(folder, 'networks.yaml')
  const old = read(file)
  const text = mergeNetworks(old, lab, file)
  if (text === old) return []
  return [
    { kind: 'write', description: `networks of the lab in ${file}`, folder, file: { path: 'networks.yaml', text } },
  ]
}

function mergeNetworks(old: string | undefined, lab: Lab, file: string): string {
  const networks = buildLimaNetworks(lab)
  if (old === undefined) {
    const paths = {
      socketVMNet: SOCKET_VMNET,
      varRun: '/private/var/run/lima',
      sudoers: sudoersPath(lab),
    }
    return writeYaml({ paths, group: 'admin', networks })
  }
  const { value } = readYaml(old, file)
  const existing = (value as { networks?: Record<string, Record<string, unknown>> } | null)?.networks ?? {}
  for (const [network, settings] of Object.entries(networks)) {
    const actual = existing[network]
    const conflict = actual && Object.entries(settings).find(([key, setting]) => String(actual[key]) !== setting)
    if (conflict) {
      const why = `its ${conflict[0]} is ${String(actual[conflict[0]])} and should be ${conflict[1]}`
      throw failure(limaNetworkConflict, { network, file, why }, { exitCode: 1 })
    }
  }
  const missing = Object.entries(networks).filter(([network]) => !(network in existing))
  return editYaml(
    old,
    missing.map(([network, settings]) => ({ path: ['networks', network], value: settings })),
  )
}

/** Lists every package with its version and hashes, so that pip refuses any other file; `tools/lab-requirements.ts`. */
export const deployerRequirements = 'lab/deployer-requirements.txt'
export const kollaBuildRequirements = 'lab/kolla-build-requirements.txt'

export function pipInstall(requirements: string): readonly string[] {
  return ['install', '-q', '--require-hashes', '-r', dataPath(requirements)]
}

/**
 * The only collection of Kolla-Ansible that the package `ansible` does not have: the others come with that package, whose
 * hash pip checks. Git checks that the files are those of this commit, which is the end of stable/2025.2.
 */
export const kollaCollection =
  'git+https://opendev.org/openstack/ansible-collection-kolla,e5c055a07f7fe8c7632ea67d964c28c2b33c7575'

export const deployerStage: LabStage = {
  name: 'deployer',
  after: [{ stage: 'host', why: 'it needs Python' }],
  inputs: ({ tools }) => [readData(deployerRequirements), kollaCollection, tools.venv],
  steps: async ({ tools }) => [
    run(['python3', '-m', 'venv', tools.venv], 'create a virtual environment'),
    run(
      [path.join(tools.venv, 'bin/pip'), ...pipInstall(deployerRequirements)],
      'install Kolla-Ansible, Ansible and the OpenStack client',
    ),
    run(
      [path.join(tools.venv, 'bin/ansible-galaxy'), 'collection', 'install', '--force', '--no-deps', kollaCollection],
      "install Kolla-Ansible's collection",
    ),
  ],
}

export const imagesStage: LabStage = {
  name: 'images',
  after: [{ stage: 'deployer', why: 'kolla-build is installed beside kolla-ansible' }],
  skipReason: (lab) => (buildsImages(lab) ? undefined : 'upstream publishes these images'),
  inputs: ({ lab }) => [JSON.stringify(lab.containers), lab.release, lab.arch],
  steps: async ({ lab, tools }) => {
    const { build, base, registry = '' } = lab.containers
    const port = registry.split(':').at(-1) ?? '4000'
    const names = build === 'all' || build === undefined ? [] : build
    const container = ['--restart', 'always', '--name', 'stackloom-registry', '-p', `${port}:5000`, 'registry:2']
    const settings = {
      '--base': base,
      '--base-arch': lab.arch,
      '--openstack-release': lab.release,
      '--tag': imageTag(lab),
      '--registry': `localhost:${port}`,
      '--namespace': 'openstack.kolla',
    }
    return [
      run([path.join(tools.venv, 'bin/pip'), ...pipInstall(kollaBuildRequirements)], 'install kolla-build'),
      // Fails when the container exists already; then the next step starts it.
      run(['docker', 'run', '-d', ...container], 'create a registry', { mayFail: true }),
      run(['docker', 'start', 'stackloom-registry'], `start a registry at ${registry}`),
      run(
        [
          path.join(tools.venv, 'bin/kolla-build'),
          ...Object.entries(settings).flat(),
          '--push',
          '--skip-existing',
          ...names.map((name) => `^${name}$`),
        ],
        names.length > 0 ? `build the images ${names.join(', ')}` : 'build all images, which takes hours',
      ),
    ]
  },
}
