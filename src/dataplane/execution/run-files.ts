/**
 * A run as files: what ansible-runner finds in a container under `/runner` and beside it, for a machine without
 * containers.
 *
 * Pure. Paths are those of the container without the leading slash; what a pod alone could give is a finding.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import { writeYaml } from '../../yaml/write.ts'
import { runInputUnusable } from '../findings/runs.ts'
import { type AnsibleRole, type AnsibleRun, type AnsibleRunSpec, limitedHosts } from '../kinds/ansible-run.ts'
import { findSecrets, resolveEnvironment } from './environment.ts'
import { escapesFolder, mountedFiles, type ReportUnusable } from './mounted-files.ts'
import { INVENTORY_FOLDER, type RunInputs } from './run-inputs.ts'

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

const INLINE_PLAYBOOK = 'playbook.yaml'
const SSH_KEY = 'runner/env/ssh_key'

export function buildRunFiles(run: AnsibleRun, materials: RunInputs): RunFiles {
  const { spec } = run
  const findings: Finding[] = []
  const unusable: ReportUnusable = (what, reason) => {
    findings.push(finding(runInputUnusable, { what, reason }))
  }
  const files = new Map(mountedFiles(spec, materials, unusable))
  const put = (file: string, text: string): void => void files.set(file, Buffer.from(text))

  const play = playText(spec)
  const playbook = play === undefined ? (spec.playbook ?? '') : INLINE_PLAYBOOK
  if (play !== undefined) put(`runner/project/${INLINE_PLAYBOOK}`, play)
  if (spec.inventory !== undefined) put('runner/inventory/inventory.yaml', spec.inventory)
  const cmdline = [files.get('runner/env/cmdline')?.toString(), spec.cmdLine, limitOption(run)].filter(Boolean)
  if (cmdline.length > 0) put('runner/env/cmdline', cmdline.join(' '))
  checkRun(run, playbook, files, unusable)
  const key = files.get(SSH_KEY)
  // OpenSSH refuses a key whose last line does not end, and says something about libcrypto.
  if (key && key.at(-1) !== 0x0a) files.set(SSH_KEY, Buffer.concat([key, Buffer.from('\n')]))
  return {
    files,
    env: resolveEnvironment(spec, materials, unusable),
    playbook,
    secrets: findSecrets(materials),
    findings,
  }
}

function checkRun(
  run: AnsibleRun,
  playbook: string,
  files: ReadonlyMap<string, Buffer>,
  unusable: ReportUnusable,
): void {
  const { args, initContainers } = run.spec
  if (playbook === '') unusable('the run', 'there is no play, no role and no playbook')
  if (escapesFolder(playbook)) unusable(`playbook ${playbook}`, 'it is outside of the project folder')
  if (inventoryTexts(files).length === 0) unusable('the run', 'there is no inventory')
  for (const host of limitedHosts(run) ?? []) {
    if (!/^[\w.-]+$/.test(host)) unusable(`host ${JSON.stringify(host)}`, 'this is not the name of a host')
  }
  if (args) unusable('args', 'a command of its own needs a container; run it as a Job')
  if (initContainers?.length) unusable('initContainers', 'they need a pod; run it as a Job')
}

/** The limit as an option. Names were checked: none can be read as another option. */
export function limitOption(run: AnsibleRun): string | undefined {
  const hosts = limitedHosts(run)
  return hosts && hosts.length > 0 ? `--limit ${hosts.join(',')}` : undefined
}

export function inventoryTexts(files: ReadonlyMap<string, Buffer>): readonly string[] {
  const folder = `${INVENTORY_FOLDER.slice(1)}/`
  return [...files].flatMap(([file, content]) => (file.startsWith(folder) ? [content.toString()] : []))
}

/** `play` wins over `roles`, which wins over `playbook`. */
export function playText({ play, roles }: AnsibleRunSpec): string | undefined {
  if (play !== undefined && play !== '') return play
  return roles && writeYaml([playFromRole(roles)])
}

function playFromRole({ tasks = [], ...play }: AnsibleRunSpec['roles'] & object): unknown {
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
