/** Kolla's inventory: the nodes by role, and every group that prechecks look for. */
import type { Lab } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'
import { childGroups, topGroups } from './release.ts'

export function inventoryFile(lab: Lab): TreeFile {
  const tops = topGroups.map((group) => {
    const names = lab.nodes.filter((node) => (node.roles as readonly string[]).includes(group))
    return section(
      group,
      names.map((node) => node.name),
    )
  })
  const children = childGroups.map(({ name, members }) => section(`${name}:children`, members))
  const head = banner(
    'Variables of nodes are in host_vars/. [group:vars] has no effect: it loses against the defaults of Kolla-Ansible.',
    '[deployment] is empty on purpose: prechecks would take this machine for a node.',
  )
  return { path: 'kolla/multinode', text: `${head}\n${[...tops, ...children].join('\n')}` }
}

function section(name: string, lines: readonly string[]): string {
  return `[${name}]\n${lines.map((line) => `${line}\n`).join('')}`
}
