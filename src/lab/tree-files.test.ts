import { describe, expect, it } from 'vitest'
import { labWith, labWithFourthNode, renderTestTree } from '../../test/lab.ts'
import { parseSerial } from './bind.ts'
import { isSecretPath } from './secret-paths.ts'
import type { TreeFile } from './tree.ts'

const findText = (tree: readonly TreeFile[], path: string) => tree.find((file) => file.path === path)?.text

describe('treeFiles', () => {
  it('lists every file once, in order', () => {
    const paths = renderTestTree(labWith({}, { phase: 'both' })).map((file) => file.path)
    expect(paths).toEqual([...new Set(paths)].toSorted())
  })

  it('marks every file with a secret', () => {
    const secret = renderTestTree(labWith({}, { phase: 'both' })).filter((file) => isSecretPath(file.path))
    expect(secret.length).toBeGreaterThan(15)
    expect(secret.filter((file) => !file.secret)).toEqual([])
  })

  it('has files of Ceph only in a lab with Ceph', () => {
    const ceph = (phase: 'lvm' | 'both') =>
      renderTestTree(labWith({}, { phase })).filter(
        (file) => /ceph/.test(file.path) && !file.path.startsWith('scripts/'),
      )
    expect(ceph('lvm')).toEqual([])
    expect(ceph('both').length).toBeGreaterThan(10)
  })

  it('uses a configuration file of the lab file instead of the rendered one', () => {
    const custom = { 'spec.openstack.config': { 'nova/nova-compute.conf': '[libvirt]\nvirt_type = kvm' } }
    const path = 'kolla/config/nova/nova-compute.conf'
    expect(findText(renderTestTree(labWith()), path)).toContain('virt_type = qemu')
    expect(findText(renderTestTree(labWith(custom)), path)).toBe('[libvirt]\nvirt_type = kvm\n')
  })

  it('raises the serial of a zone only when its records change', () => {
    const first = renderTestTree(labWith())
    const second = renderTestTree(labWith({ 'spec.nodes.1.cpus': 3 }), (path) => findText(first, path))
    const third = renderTestTree(labWith({}, { preset: 'four-node' }), (path) => findText(second, path))
    const serials = (zone: string) => [first, second, third].map((tree) => parseSerial(findText(tree, zone)))
    expect(serials('bind/zones/db.openstack.local')).toEqual([1, 1, 2])
    expect(serials('bind/zones/db.2.0.10.in-addr.arpa')).toEqual([1, 1, 1])
  })

  it('changes no other VM when a node is added', () => {
    const vms = (tree: readonly TreeFile[]) => tree.filter((file) => file.path.startsWith('lima/'))
    const before = vms(renderTestTree(labWith()))
    const after = vms(renderTestTree(labWithFourthNode()))
    expect(after.filter((file) => file.path !== 'lima/node4-compute.yaml')).toEqual(before)
    expect(after).toHaveLength(before.length + 1)
  })

  it('has no two opening braces in files that Lima runs as templates', () => {
    const tree = renderTestTree(labWith({ 'spec.nodes.0.disks': { state: '40GiB' } }))
    const vms = tree.filter((file) => file.path.startsWith('lima/'))
    expect(vms.length).toBeGreaterThan(3)
    expect(vms.filter((file) => file.text.includes('{{'))).toEqual([])
  })
})
