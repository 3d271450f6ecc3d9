/**
 * Builds the command lines of the programs that a lab runs, and their environment.
 *
 * Secrets are passed in files and on standard input, never as arguments.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Failure, failure } from '../../errors/failure.ts'
import { type Exec, type ProcessResult, toProgram } from '../../exec/process.ts'
import { toolMissing } from '../findings/lab-run.ts'
import type { Lab, LabNode } from '../lab.ts'

export interface ToolSettings {
  readonly lab: Lab
  /** Absolute folder of the rendered tree. */
  readonly folder: string
  /** `darwin`, `linux`. */
  readonly system: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly exec: Exec
}

export type Command = readonly string[]

export interface Tools {
  readonly env: Readonly<Record<string, string>>
  readonly limaHome: string
  readonly venv: string
  readonly limactl: (...args: readonly string[]) => Command
  readonly kolla: (command: string, ...args: readonly string[]) => Command
  readonly ssh: (node: LabNode, command: string) => Command
  readonly copyTo: (node: LabNode, from: readonly string[], to: string) => Command
  readonly copyFrom: (node: LabNode, from: string, to: string) => Command
  /** `tofu`, or `terraform` where only that is installed. */
  readonly terraform: string
  readonly tofu: (...args: readonly string[]) => Command
  /** Runs a read-only command and returns its output, whatever its exit code. */
  readonly query: (command: Command) => Promise<ProcessResult>
}

const QUERY_TIMEOUT_MS = 60_000

export function createTools(settings: ToolSettings): Tools {
  const { lab, folder, system, env, exec } = settings
  const limaHome = resolveLimaHome(lab, env)
  const venv = path.join(folder, '.stackloom/venv')
  const config = path.join(folder, 'ssh/config')
  const terraform = ['tofu', 'terraform'].find((program) => isInstalled(program, env['PATH'])) ?? 'tofu'
  const added: Record<string, string> = {
    LIMA_HOME: limaHome,
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_FORCE_COLOR: '0',
    OS_CLIENT_CONFIG_FILE: path.join(folder, 'kolla/clouds.yaml'),
    // Ansible forks, and macOS would kill the children.
    ...(system === 'darwin' && { OBJC_DISABLE_INITIALIZE_FORK_SAFETY: 'YES' }),
  }
  return {
    env: added,
    limaHome,
    venv,
    terraform,
    limactl: (...args) => ['limactl', '--tty=false', ...args],
    kolla: (command, ...args) => [
      path.join(venv, 'bin/kolla-ansible'),
      command,
      '-i',
      path.join(folder, 'kolla/multinode'),
      '--configdir',
      path.join(folder, 'kolla'),
      ...args,
    ],
    ssh: (node, command) => ['ssh', '-F', config, node.name, command],
    copyTo: (node, from, to) => ['scp', '-q', '-r', '-F', config, ...from, `${node.name}:${to}`],
    copyFrom: (node, from, to) => ['scp', '-q', '-F', config, `${node.name}:${from}`, to],
    tofu: (...args) => [terraform, `-chdir=${path.join(folder, 'terraform/openstack')}`, ...args],
    query: (command) => exec({ ...toProgram(command), env: { ...env, ...added } }, { timeoutMs: QUERY_TIMEOUT_MS }),
  }
}

function isInstalled(program: string, searchPath = ''): boolean {
  return searchPath.split(path.delimiter).some((folder) => folder !== '' && existsSync(path.join(folder, program)))
}

/** Lima keeps disks in its home, so `host.storage` moves the home to another drive. */
function resolveLimaHome(lab: Lab, env: ToolSettings['env']): string {
  if (lab.host.storage !== undefined) return path.join(lab.host.storage, 'lima')
  return env['LIMA_HOME'] ?? path.join(env['HOME'] ?? '~', '.lima')
}

const INSTALL_HINTS: Readonly<Record<string, string>> = {
  limactl: '`brew install lima qemu`',
  tofu: '`brew install opentofu`, or install Terraform',
  ssh: 'install OpenSSH',
  scp: 'install OpenSSH',
  python3: '`brew install python@3.12`',
  'kolla-ansible': 'run the stage deployer: `stackloom lab up --from-stage deployer`',
}

export function missingTool(tool: string, why: string): Failure {
  const how = INSTALL_HINTS[path.basename(tool)] ?? 'install it, or run the stages before this one'
  return failure(toolMissing, { tool, why, how }, { exitCode: 1 })
}
