/**
 * Runs Kolla-Ansible on a rendered lab, for tests: the real programs with facts of simulated nodes.
 *
 * Every run is in a network namespace without interfaces, so it can connect to nothing.
 */
import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import type { LabNode } from '../../../src/lab/lab.ts'
import { hasKollaVenv, kollaVenv } from '../../../tools/lab-setup.ts'
import { requireRoot } from '../../tools.ts'
import type { RenderedLab } from './rendered-lab.ts'

const run = promisify(execFile)
const python = path.join(kollaVenv(), 'bin/python')

/** Playbooks and example files, which pip installed beside the programs. */
export const kollaShare = path.join(kollaVenv(), 'share/kolla-ansible')

export function requireKolla(context: Pick<TestContext, 'skip'>): void {
  requireRoot(context as never)
  if (!hasKollaVenv()) context.skip('Kolla-Ansible is not installed; `make setup` installs it')
}

export const canRunKolla = (): boolean => process.getuid?.() === 0 && hasKollaVenv()

export async function runAnsible({ scratch }: RenderedLab, program: string, args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${path.join(kollaVenv(), 'bin')}:${process.env['PATH']}`,
    HOME: scratch,
    ANSIBLE_CACHE_PLUGIN: 'jsonfile',
    ANSIBLE_CACHE_PLUGIN_CONNECTION: path.join(scratch, 'facts'),
    ANSIBLE_CACHE_PLUGIN_TIMEOUT: '0',
    ANSIBLE_LOCAL_TEMP: path.join(scratch, 'tmp'),
    ANSIBLE_PIPELINING: '1',
    ANSIBLE_FORKS: '3',
    ANSIBLE_NOCOLOR: '1',
  }
  const command = ['-n', path.join(kollaVenv(), 'bin', program), ...args]
  try {
    return (await run('unshare', command, { env, maxBuffer: 64 * 1024 * 1024 })).stdout
  } catch (thrown) {
    // Ansible prints errors on standard output.
    const output = (thrown as { readonly stdout?: string }).stdout ?? ''
    throw new Error(`${program} failed:\n${output.split('\n').slice(-40).join('\n')}`, { cause: thrown })
  }
}

/** Inventory, variables and settings of every run of Kolla-Ansible on this lab. */
export function kollaArguments({ folder }: RenderedLab): readonly string[] {
  const kolla = path.join(folder, 'kolla')
  const extra = [
    `@${path.join(kolla, 'globals.yml')}`,
    `@${path.join(kolla, 'passwords.yml')}`,
    `CONFIG_DIR=${kolla}`,
    'ansible_connection=local',
    `ansible_python_interpreter=${python}`,
  ]
  return ['-i', path.join(kolla, 'multinode'), ...extra.flatMap((variable) => ['-e', variable])]
}

/** Writes the facts that Ansible would gather from the nodes. */
export function writeFacts({ lab, scratch }: RenderedLab): void {
  const folder = path.join(scratch, 'facts')
  mkdirSync(folder, { recursive: true })
  for (const node of lab.nodes) {
    const payload = { __payload__: JSON.stringify(nodeFacts(node)) }
    writeFileSync(path.join(folder, `s1_${node.name}`), JSON.stringify(payload))
  }
}

function nodeFacts(node: LabNode): object {
  const nics = node.nics.map((nic) => {
    const ipv4 = nic.address && { ipv4: { address: nic.address, netmask: '255.255.255.0', prefix: '24' } }
    return [`ansible_${nic.interface}`, { active: true, macaddress: nic.mac, mtu: 1500, type: 'ether', ...ipv4 }]
  })
  return {
    ansible_hostname: node.name,
    ansible_nodename: node.name,
    ansible_fqdn: node.name,
    ansible_distribution: 'Ubuntu',
    ansible_distribution_release: 'noble',
    ansible_distribution_version: '24.04',
    ansible_distribution_major_version: '24',
    ansible_os_family: 'Debian',
    ansible_architecture: 'aarch64',
    ansible_processor_vcpus: node.cpus,
    ansible_memtotal_mb: node.memory * 1024,
    ansible_service_mgr: 'systemd',
    ansible_python: { executable: python },
    ansible_python_version: '3.12.0',
    ansible_user_uid: 0,
    ansible_user_gid: 0,
    ansible_interfaces: ['lo', ...node.nics.map((nic) => nic.interface)],
    ansible_env: {},
    ansible_date_time: { epoch: '1790000000' },
    ansible_kernel: '6.8.0',
    ...Object.fromEntries(nics),
  }
}

const NO_CONTAINERS = ['kolla_container_facts', 'kolla_toolbox']

/**
 * Renders the configuration of the services with Kolla's templates, into one folder per node. With `whole` it runs all
 * roles of Kolla's site.yml, otherwise only the tasks that the tests need.
 */
export async function renderKollaConfiguration(rendered: RenderedLab, whole: boolean): Promise<string> {
  writeFacts(rendered)
  const playbooks = path.join(rendered.scratch, 'ansible')
  const out = path.join(rendered.scratch, 'out')
  cpSync(path.join(kollaShare, 'ansible'), playbooks, { recursive: true })
  const actions = path.join(playbooks, 'action_plugins')
  cpSync(path.join(import.meta.dirname, 'kolla-actions'), actions, { recursive: true })
  for (const name of NO_CONTAINERS)
    copyFileSync(path.join(actions, 'kolla_container.py'), path.join(actions, `${name}.py`))
  if (!whole) execFileSync(python, [path.join(import.meta.dirname, 'kolla-tasks.py'), playbooks, out])
  const settings = {
    ansible_become: false,
    set_sysctl: 'no',
    node_config_directory: `${out}/{{ inventory_hostname }}`,
  }
  await runAnsible(rendered, 'ansible-playbook', [
    ...kollaArguments(rendered),
    '-e',
    `@${path.join(rendered.folder, 'ceph/20-ceph.yml')}`,
    '-e',
    'kolla_action=config',
    '-e',
    JSON.stringify(settings),
    path.join(playbooks, whole ? 'site.yml' : 'narrow.yml'),
  ])
  return out
}
