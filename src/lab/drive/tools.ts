/**
 * The programs that a lab drives: how they are called, with which environment. One place knows their options.
 *
 * Secrets are in files and on standard input, never in arguments.
 */
import path from 'node:path'
import { type Exec, type ProcessResult, toProgram } from '../../exec/process.ts'
import type { Lab, LabNode } from '../lab.ts'

export interface ToolSettings {
  readonly lab: Lab
  /** The tree, absolute. */
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
  readonly kolla: (command: string, ...more: readonly string[]) => Command
  readonly ssh: (node: LabNode, command: string) => Command
  readonly copyTo: (node: LabNode, from: readonly string[], to: string) => Command
  readonly copyFrom: (node: LabNode, from: string, to: string) => Command
  readonly tofu: (...args: readonly string[]) => Command
  /** Runs a question to its end; what it prints is the answer, whatever its ending. */
  readonly query: (words: Command) => Promise<ProcessResult>
}

const ASK_TIMEOUT_MS = 60_000

export function createTools(settings: ToolSettings): Tools {
  const { lab, folder, system, env, exec } = settings
  const limaHome = resolveLimaHome(lab, env)
  const venv = path.join(folder, '.stackloom/venv')
  const config = path.join(folder, 'ssh/config')
  const added: Record<string, string> = {
    LIMA_HOME: limaHome,
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_FORCE_COLOR: '0',
    OS_CLIENT_CONFIG_FILE: path.join(folder, 'kolla/clouds.yaml'),
    // Ansible forks; macOS would kill the children.
    ...(system === 'darwin' && { OBJC_DISABLE_INITIALIZE_FORK_SAFETY: 'YES' }),
  }
  return {
    env: added,
    limaHome,
    venv,
    limactl: (...args) => ['limactl', '--tty=false', ...args],
    kolla: (command, ...more) => [
      path.join(venv, 'bin/kolla-ansible'),
      command,
      '-i',
      path.join(folder, 'kolla/multinode'),
      '--configdir',
      path.join(folder, 'kolla'),
      ...more,
    ],
    ssh: (node, command) => ['ssh', '-F', config, node.name, command],
    copyTo: (node, from, to) => ['scp', '-q', '-r', '-F', config, ...from, `${node.name}:${to}`],
    copyFrom: (node, from, to) => ['scp', '-q', '-F', config, `${node.name}:${from}`, to],
    tofu: (...args) => ['tofu', `-chdir=${path.join(folder, 'terraform/openstack')}`, ...args],
    query: (words) => exec({ ...toProgram(words), env: { ...env, ...added } }, { timeoutMs: ASK_TIMEOUT_MS }),
  }
}

/** On another drive when the lab says so: disks live in Lima's home. */
function resolveLimaHome(lab: Lab, env: ToolSettings['env']): string {
  if (lab.host.storage !== undefined) return path.join(lab.host.storage, 'lima')
  return env['LIMA_HOME'] ?? path.join(env['HOME'] ?? '~', '.lima')
}
