/**
 * How Ansible is called on this machine: by ansible-runner where it is, so that everything mounted below `/runner`
 * means what it means in a container, and by ansible-playbook alone where it is not.
 */
import path from 'node:path'
import { failure } from '../../../errors/failure.ts'
import { type Exec, succeeded } from '../../../exec/process.ts'
import { ansibleNotFound } from '../../findings/runs.ts'
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

/**
 * ansible-runner hands a key in `env` to an agent through a pipe, and hangs for good when the agent dies before it has
 * read: a key in a file needs neither. Only for one with a passphrase is the agent needed: ansible-runner types it.
 */
export function withoutAgent(program: AnsibleProgram, wanted: RunFiles): RunFiles {
  const key = wanted.files.get(AGENT_KEY)
  if (!key || (program === 'ansible-runner' && wanted.files.has('runner/env/passwords'))) return wanted
  const { [AGENT_KEY]: _, ...others } = Object.fromEntries(wanted.files)
  return { ...wanted, files: new Map([...Object.entries(others), [FILE_KEY, key]]) }
}

export function ansibleCommand(
  program: AnsibleProgram,
  folder: RunFolder,
  { files, playbook }: RunFiles,
  ident: string,
): readonly string[] {
  if (program === 'ansible-runner') return [program, 'run', folder.runner, '-p', playbook, '-i', ident]
  const has = (name: string): boolean => files.has(`runner/${name}`)
  const at = (name: string): string => path.join(folder.runner, name)
  return [
    program,
    ...splitShellWords(files.get('runner/env/cmdline')?.toString() ?? ''),
    '-i',
    at('inventory'),
    ...(has('env/extravars') ? ['-e', `@${at('env/extravars')}`] : []),
    // A name in a collection is no file of the project.
    has(`project/${playbook}`) ? at(`project/${playbook}`) : playbook,
  ]
}

/** What Ansible needs to know; what the run itself sets comes after, and wins. */
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
    // A connection that outlives its run would let the next one in with a key that is no longer right.
    ANSIBLE_SSH_CONTROL_PATH_DIR: controlPath,
    ANSIBLE_HOST_KEY_CHECKING: 'False',
    ANSIBLE_RETRY_FILES_ENABLED: 'False',
    ANSIBLE_NOCOLOR: 'True',
    ...(files.has(FILE_KEY) && { ANSIBLE_PRIVATE_KEY_FILE: path.join(folder.root, FILE_KEY) }),
  }
}

/** Words as a shell would make them of a line with plain quotes. */
export function splitShellWords(line: string): readonly string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a, b) => String(a ?? b)))
}
