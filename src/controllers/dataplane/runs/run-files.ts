/**
 * A run as files: what ansible-runner finds in a container under `/runner` and beside it, for a machine without
 * containers.
 *
 * Pure. Paths are those of the container without the leading slash; what a pod alone could give is a finding.
 */
import { type AnsibleRole, type AnsibleRun, type AnsibleRunSpec, hostsOf } from '../../../api/ansibleee.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import { runInputUnusable } from '../../../errors/runs.ts'
import { writeYaml } from '../../../yaml/write.ts'
import { environmentOf, secretsIn } from './environment.ts'
import { INVENTORY_FOLDER, type Materials } from './materials.ts'
import { leaves, mountedFiles, type Unusable } from './mounted-files.ts'

export interface RunFiles {
  /** Content by path: `runner/inventory/hosts`. */
  readonly files: ReadonlyMap<string, Buffer>
  readonly env: Readonly<Record<string, string>>
  /** What ansible-runner is told to play: a file of `runner/project`, or a name in a collection. */
  readonly playbook: string
  /** Texts that no log may show. */
  readonly secrets: readonly string[]
  readonly findings: readonly Finding[]
}

const OWN_PLAYBOOK = 'playbook.yaml'
const SSH_KEY = 'runner/env/ssh_key'

export function runFiles(run: AnsibleRun, materials: Materials): RunFiles {
  const { spec } = run
  const findings: Finding[] = []
  const unusable: Unusable = (what, reason) => {
    findings.push(finding(runInputUnusable, { what, reason }))
  }
  const files = new Map(mountedFiles(spec, materials, unusable))
  const put = (file: string, text: string): void => void files.set(file, Buffer.from(text))

  const play = playOf(spec)
  const playbook = play === undefined ? (spec.playbook ?? '') : OWN_PLAYBOOK
  if (play !== undefined) put(`runner/project/${OWN_PLAYBOOK}`, play)
  if (spec.inventory !== undefined) put('runner/inventory/inventory.yaml', spec.inventory)
  const cmdline = [files.get('runner/env/cmdline')?.toString(), spec.cmdLine, limitOf(run)].filter(Boolean)
  if (cmdline.length > 0) put('runner/env/cmdline', cmdline.join(' '))
  checkRun(run, playbook, files, unusable)
  const key = files.get(SSH_KEY)
  // OpenSSH refuses a key whose last line does not end, and says something about libcrypto.
  if (key && key.at(-1) !== 0x0a) files.set(SSH_KEY, Buffer.concat([key, Buffer.from('\n')]))
  return {
    files,
    env: environmentOf(spec, materials, unusable),
    playbook,
    secrets: secretsIn(materials),
    findings,
  }
}

function checkRun(
  run: AnsibleRun,
  playbook: string,
  files: ReadonlyMap<string, Buffer>,
  unusable: Unusable,
): void {
  const { args, initContainers } = run.spec
  if (playbook === '') unusable('the run', 'there is no play, no role and no playbook')
  if (leaves(playbook)) unusable(`playbook ${playbook}`, 'it is outside of the project folder')
  if (inventoriesIn(files).length === 0) unusable('the run', 'there is no inventory')
  for (const host of hostsOf(run) ?? []) {
    if (!/^[\w.-]+$/.test(host)) unusable(`host ${JSON.stringify(host)}`, 'this is not the name of a host')
  }
  if (args) unusable('args', 'a command of its own needs a container; run it as a Job')
  if (initContainers?.length) unusable('initContainers', 'they need a pod; run it as a Job')
}

/** The limit as an option. Names were checked: none can be read as another option. */
export function limitOf(run: AnsibleRun): string | undefined {
  const hosts = hostsOf(run)
  return hosts && hosts.length > 0 ? `--limit ${hosts.join(',')}` : undefined
}

export function inventoriesIn(files: ReadonlyMap<string, Buffer>): readonly string[] {
  const folder = `${INVENTORY_FOLDER.slice(1)}/`
  return [...files].flatMap(([file, content]) => (file.startsWith(folder) ? [content.toString()] : []))
}

/** `play` wins over `roles`, which wins over `playbook`. */
export function playOf({ play, roles }: AnsibleRunSpec): string | undefined {
  if (play !== undefined && play !== '') return play
  return roles && writeYaml([playOfRole(roles)])
}

function playOfRole({ tasks = [], ...play }: AnsibleRunSpec['roles'] & object): unknown {
  const standard: AnsibleRole = {
    name: 'Run Standalone Role',
    hosts: 'all',
    strategy: 'linear',
    any_errors_fatal: true,
    become: false,
    gather_facts: false,
  }
  const withVars = tasks.map(({ vars, ...task }) => ({
    ...task,
    ...(vars && { vars: Object.fromEntries(vars.map(variable)) }),
  }))
  return { ...standard, ...play, tasks: withVars }
}

function variable(text: string): readonly [string, string] {
  const [name = '', ...value] = text.split(':')
  return [name.trim(), value.join(':').trim()]
}
