import { describe, expect, it } from 'vitest'
import { labWith } from '../../../test/lab.ts'
import { inventoryFile } from '../kolla/inventory.ts'
import { checkTree, type RenderedTree } from './rendered-tree.ts'

const lab = labWith()
const view = (files: Readonly<Record<string, string>>, more: Partial<RenderedTree> = {}): RenderedTree => ({
  files: Object.keys(files),
  read: (file) => files[file],
  mode: () => 0o100600,
  tracked: [],
  ...more,
})
const codes = (tree: RenderedTree): readonly string[] => checkTree(lab, tree).map((finding) => finding.code)
const inventory = inventoryFile(lab).text

describe('checkTree', () => {
  it('finds nothing in an unchanged tree', () => {
    expect(codes(view({ 'kolla/multinode': inventory }))).toEqual([])
  })

  it.each([
    [
      'an inventory without a group',
      view({ 'kolla/multinode': inventory.replace('[tls-backend:children]', '[x:children]') }),
      'SL8202',
    ],
    ['variables of a group', view({ 'kolla/multinode': `${inventory}\n[compute:vars]\nx=1\n` }), 'SL8203'],
    ['group_vars/all', view({ 'kolla/group_vars/all.yml': 'x: 1' }), 'SL8203'],
    ['a null_resource', view({ 'terraform/openstack/x.tf': 'resource "null_resource" "wait" {}' }), 'SL8204'],
    ['Terraform at the VM layer', view({ 'terraform/vms/main.tf': 'provider "multipass" {}' }), 'SL8204'],
    ['a tracked secret', view({}, { tracked: ['kolla/passwords.yml'] }), 'SL8205'],
    ['a readable secret', view({ 'ssh/id_ed25519': '' }, { mode: () => 0o100644 }), 'SL8206'],
    [
      'an address on the raw port',
      view({
        'lima/node1-controller.yaml':
          'provision:\n- path: /etc/netplan/90-stackloom.yaml\n  content: "network: {ethernets: {ext0: {addresses: [10.0.2.5/24]}}}"\n',
      }),
      'SL8121',
    ],
  ])('finds %s', (_, tree, code) => {
    expect(codes(tree)).toContain(code)
  })
})
