/**
 * Builds the Ansible command on this machine: ansible-runner where it is installed, so that mounts below `/runner` work
 * as in a container, and otherwise ansible-playbook.
 */
import path from 'node:path'
import { failure } from '../../../errors/failure.ts'
import { formatShellCommand } from '../../../errors/shell-words.ts'
import { type Exec, succeeded } from '../../../exec/process.ts'
import { ansibleNotFound } from '../../findings/runs.ts'
import { SSH_ARGS } from '../host-keys.ts'
import type { RunFiles } from '../run-files.ts'
import type { RunFolder } from './run-folder.ts'

export type AnsibleProgram = 'ansible-runner' | 'ansible-playbook'

const programs: readonly AnsibleProgram[] = ['ansible-runner', 'ansible-playbook']

export async function findAnsible(exec: Exec): Promise<AnsibleProgram> {
  for (const program of programs) {
    const { exit } = await exec({ file: 'sh', args: ['-c', `command -v ${program}`] })
    if (succeeded(exit)) return program
  }
  throw failure(ansibleNotFound, { tried: programs })
}

const AGENT_KEY = 'runner/env/ssh_key'
const FILE_KEY = 'runner/ssh_key'
export const SSH_CONFIG = 'runner/ssh_config'
export const KNOWN_HOSTS = 'runner/known_hosts'

/**
 * Moves the SSH key to a file. ansible-runner passes a key in `env` to an agent through a pipe, and hangs forever when the
 * agent dies before it has read. Only a key with a passphrase needs the agent: ansible-runner enters the passphrase.
 */
export function withoutAgent(program: AnsibleProgram, runFiles: RunFiles): RunFiles {
  const key = runFiles.files.get(AGENT_KEY)
  if (!key || (program === 'ansible-runner' && runFiles.files.has('runner/env/passwords'))) return runFiles
  const { [AGENT_KEY]: _, ...others } = Object.fromEntries(runFiles.files)
  return { ...runFiles, files: new Map([...Object.entries(others), [FILE_KEY, key]]) }
}

export function ansibleCommand(
  program: AnsibleProgram,
  folder: RunFolder,
  { files, playbook }: RunFiles,
  ident: string,
): readonly string[] {
  if (program === 'ansible-runner') return [program, 'run', folder.runner, '-p', playbook, '-i', ident]
  const has = (name: string): boolean => files.has(`runner/${name}`)
  const inFolder = (name: string): string => path.join(folder.runner, name)
  return [
    program,
    ...splitShellWords(files.get('runner/env/cmdline')?.toString() ?? ''),
    '-i',
    inFolder('inventory'),
    ...(has('env/extravars') ? ['-e', `@${inFolder('env/extravars')}`] : []),
    // Otherwise it is a name in a collection.
    has(`project/${playbook}`) ? inFolder(`project/${playbook}`) : playbook,
  ]
}

/** The environment of Ansible, without the variables of the run itself, which win. */
export function ansibleEnvironment(
  folder: RunFolder,
  { files }: RunFiles,
  callbacks: string,
  controlPath: string,
): Readonly<Record<string, string>> {
  return {
    ANSIBLE_CALLBACK_PLUGINS: callbacks,
    ANSIBLE_CALLBACKS_ENABLED: 'stackloom_events',
    STACKLOOM_EVENTS: folder.events,
    ANSIBLE_HOME: path.join(folder.root, 'ansible'),
    ANSIBLE_LOCAL_TEMP: path.join(folder.root, 'ansible', 'tmp'),
    // A connection that outlives its run would let the next one in with an outdated key.
    ANSIBLE_SSH_CONTROL_PATH_DIR: controlPath,
    // ansible-runner turns the check off unless this is set.
    ANSIBLE_HOST_KEY_CHECKING: 'True',
    ANSIBLE_SSH_ARGS: formatShellCommand([...SSH_ARGS, '-F', path.join(folder.root, SSH_CONFIG)]),
    ANSIBLE_RETRY_FILES_ENABLED: 'False',
    ANSIBLE_NOCOLOR: 'True',
    ...(files.has(FILE_KEY) && { ANSIBLE_PRIVATE_KEY_FILE: path.join(folder.root, FILE_KEY) }),
  }
}

/** Splits a line with plain quotes like a shell. */
export function splitShellWords(line: string): readonly string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a, b) => String(a ?? b)))
}
