/** Checks the rendered tree with Kolla-Ansible's inventory parser, playbooks, variables and password tool. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { kollaCollection } from '../../../src/lab/drive/stages/host.ts'
import { allGroups, knownVariables, readVariableNames } from '../../../src/lab/kolla/release.ts'
import { findKollaVariables } from '../../../tools/kolla-variables.ts'
import { kollaVenv } from '../../../tools/lab-setup.ts'
import { kollaArguments, kollaShare, requireKolla, runAnsible, writeFacts } from './kolla-ansible.ts'
import { type RenderedLab, renderLabToDisk } from './rendered-lab.ts'

interface Requirement {
  readonly name: string
  readonly version: string
}

let rendered: RenderedLab
beforeAll(async () => {
  rendered = await renderLabToDisk()
})
afterAll(() => rendered.remove())

const kollaFile = (name: string): string => readFileSync(path.join(rendered.folder, 'kolla', name), 'utf8')

describe('Kolla-Ansible', () => {
  it('finds every group of its example inventory', async (context) => {
    requireKolla(context)
    const inventory = path.join(rendered.folder, 'kolla/multinode')
    const output = await runAnsible(rendered, 'ansible-inventory', ['-i', inventory, '--list'])
    const ours = JSON.parse(output) as Record<string, { hosts?: string[] }>
    expect(new Set(allGroups)).toEqual(
      parseGroups(readFileSync(path.join(kollaShare, 'ansible/inventory/multinode'), 'utf8')),
    )
    expect(ours['control']?.hosts).toEqual(['node1'])
    expect(ours['compute']?.hosts).toEqual(['node2'])
    expect(ours['storage']?.hosts).toEqual(['node3'])
  }, 180_000)

  it('finds the collections that it requires in the package ansible, except its own, which is given by a commit', (context) => {
    requireKolla(context)
    const read = (file: string) =>
      (parse(readFileSync(path.join(kollaShare, file), 'utf8')) as { collections: Requirement[] }).collections
    const listed = execFileSync(
      path.join(kollaVenv(), 'bin/ansible-galaxy'),
      ['collection', 'list', '--format', 'json', '-p', path.join(rendered.scratch, 'none')],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: rendered.scratch } },
    )
    const installed = Object.assign({}, ...Object.values(JSON.parse(listed) as object)) as Record<
      string,
      { version: string } | undefined
    >
    const required = read('requirements-core.yml')
    expect(required.length).toBeGreaterThan(5)
    const unmet = required.filter(({ name, version }) => {
      const below = /^<(\d+)$/.exec(version)?.[1]
      return Number.parseInt(installed[name]?.version ?? '', 10) >= Number(below) || !below || !installed[name]
    })
    expect(unmet).toEqual([])
    const [repository = '', commit] = kollaCollection.replace(/^git\+/, '').split(',')
    expect(read('requirements.yml').map(({ name }) => name)).toEqual([repository])
    expect(commit).toMatch(/^[0-9a-f]{40}$/)
  }, 120_000)

  it('adds no password', (context) => {
    requireKolla(context)
    const file = path.join(rendered.scratch, 'passwords.yml')
    copyFileSync(path.join(rendered.folder, 'kolla/passwords.yml'), file)
    execFileSync(path.join(kollaVenv(), 'bin/kolla-genpwd'), ['-p', file])
    const before = kollaFile('passwords.yml')
    expect(parse(readFileSync(file, 'utf8'))).toEqual(parse(before))
    const template = parse(readFileSync(path.join(kollaShare, 'etc_examples/kolla/passwords.yml'), 'utf8')) as object
    expect(Object.keys(parse(before) as object).toSorted()).toEqual(Object.keys(template).toSorted())
    // Prechecks allow an empty line for SSH keys only.
    const empty = before.split('\n').filter((line) => /^[^#].*:\s*$/.test(line))
    expect(empty.filter((line) => !line.includes('ssh_key') && !line.startsWith('  '))).toEqual([])
  }, 60_000)

  it('reads every variable of data/kolla-variables.txt, which has every variable that we render', (context) => {
    requireKolla(context)
    expect(readVariableNames()).toEqual(findKollaVariables())
    const known = knownVariables(rendered.lab)
    const written = [
      'globals.yml',
      '../ceph/20-ceph.yml',
      ...rendered.lab.nodes.map((node) => `host_vars/${node.name}.yml`),
    ].flatMap((file) => Object.keys(parse(kollaFile(file)) as object))
    expect(written.length).toBeGreaterThan(40)
    expect(written.filter((name) => !known.has(name))).toEqual([])
  }, 60_000)

  it('accepts site.yml with our configuration', async (context) => {
    requireKolla(context)
    writeFacts(rendered)
    const output = await runAnsible(rendered, 'ansible-playbook', [
      ...kollaArguments(rendered),
      '--syntax-check',
      path.join(kollaShare, 'ansible/site.yml'),
    ])
    expect(output).toContain('playbook:')
  }, 300_000)

  it('resolves the variables of every node', async (context) => {
    requireKolla(context)
    writeFacts(rendered)
    const names = ['inventory_hostname', 'api_interface_address', 'tunnel_interface', 'kolla_external_vip_interface']
    const msg = names.map((name) => `{{ ${name} }}`).join(' ')
    const debug = ['--playbook-dir', path.join(kollaShare, 'ansible'), '-m', 'debug']
    const output = await runAnsible(rendered, 'ansible', [
      'all',
      ...kollaArguments(rendered),
      ...debug,
      '-a',
      JSON.stringify({ msg }),
    ])
    expect(output).toContain('node1 192.168.105.11 tun0 vip0')
    expect(output).toContain('node2 192.168.105.12 tun0 mgmt0')
    expect(output).toContain('node3 192.168.105.13 mgmt0 mgmt0')
  }, 300_000)
})

function parseGroups(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^\[([^\]:]+)/gm)].map((match) => match[1] as string))
}
