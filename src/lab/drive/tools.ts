/**
 * The programs that a lab drives: how they are called, with which environment. One place knows their options.
 *
 * Secrets are in files and on standard input, never in arguments.
 */
import path from 'node:path'
import { type Exec, type Finished, programOf } from '../../exec/process.ts'
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

export type Words = readonly string[]

export interface Tools {
  readonly env: Readonly<Record<string, string>>
  readonly limaHome: string
  readonly venv: string
  readonly limactl: (...args: readonly string[]) => Words
  readonly kolla: (command: string, ...more: readonly string[]) => Words
  readonly ssh: (node: LabNode, command: string) => Words
  readonly scp: (node: LabNode, from: readonly string[], to: string) => Words
  readonly fetch: (node: LabNode, from: string, to: string) => Words
  readonly tofu: (...args: readonly string[]) => Words
  /** Runs a question to its end; what it prints is the answer, whatever its ending. */
  readonly ask: (words: Words) => Promise<Finished>
}

const ASK_TIMEOUT_MS = 60_000

export function toolsFor(settings: ToolSettings): Tools {
  const { lab, folder, system, env, exec } = settings
  const limaHome = limaHomeOf(lab, env)
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
    scp: (node, from, to) => ['scp', '-q', '-r', '-F', config, ...from, `${node.name}:${to}`],
    fetch: (node, from, to) => ['scp', '-q', '-F', config, `${node.name}:${from}`, to],
    tofu: (...args) => ['tofu', `-chdir=${path.join(folder, 'terraform/openstack')}`, ...args],
    ask: (words) => exec({ ...programOf(words), env: { ...env, ...added } }, { timeoutMs: ASK_TIMEOUT_MS }),
  }
}

/** On another drive when the lab says so: disks live in Lima's home. */
function limaHomeOf(lab: Lab, env: ToolSettings['env']): string {
  if (lab.host.storage !== undefined) return path.join(lab.host.storage, 'lima')
  return env['LIMA_HOME'] ?? path.join(env['HOME'] ?? '~', '.lima')
}
