import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { completionValues } from './known-values.ts'

const site = `spec:
  cluster:
    nodes: [{ name: worker-0 }]
  clouds:
    - { name: rhoso1, namespace: openstack, networks: { internalapi: {}, tenant: {} }, hosts: [{ name: compute-0 }] }
    - { name: rhoso2, namespace: openstack2, networks: { tenant: {}, designate: false } }
`
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-values-'))
  writeFileSync(path.join(folder, 'site.yaml'), site)
  writeFileSync(path.join(folder, 'broken.yaml'), 'spec: [')
  writeFileSync(path.join(folder, 'lab.yaml'), 'spec: { nodes: [{ name: node1 }, { name: node2 }] }')
  const lock = 'clouds: { rhoso1: { namespace: a }, rhoso3: { namespace: openstack3, leaving: true } }'
  writeFileSync(path.join(folder, 'site.lock.yaml'), lock)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function values(placeholder: string, ...words: string[]): Promise<readonly string[] | undefined> {
  return (await completionValues(folder)(placeholder, words))?.map((suggestion) => suggestion.value)
}

it('lists the clouds, namespaces, networks, nodes and hosts of the site file', async () => {
  expect(await values('cloud')).toEqual(['rhoso1', 'rhoso2'])
  expect(await values('namespace')).toEqual(['openstack', 'openstack2'])
  expect(await values('network', 'plan', '-f', 'site.yaml')).toEqual(
    expect.arrayContaining(['internalapi', 'ctlplane']),
  )
  expect(await values('owner')).toEqual(expect.arrayContaining(['rhoso1', 'rhoso2/storage']))
  expect(await values('owner')).not.toContain('rhoso2/designate')
  expect(await values('address-or-name')).toEqual(['compute-0', 'worker-0'])
  expect(await values('node', '--file=site.yaml')).toEqual(['worker-0'])
  expect(await values('host')).toEqual(['compute-0'])
})

it('lists the stages of deployments and labs, and the nodes of the lab file', async () => {
  expect(await values('stage', 'up')).toContain('control-plane')
  expect(await values('stage', 'lab', 'up')).toContain('vms')
  expect(await values('node', 'lab', 'up', '--replace')).toEqual(['node1', 'node2'])
})

it('reads the file that STACKLOOM_FILE names', async () => {
  const found = await completionValues('/', { STACKLOOM_FILE: path.join(folder, 'site.yaml') })('cloud', ['up'])
  expect(found?.map(({ value }) => value)).toEqual(['rhoso1', 'rhoso2'])
})

it('lists the clouds that are only in the lock', async () => {
  expect(await values('leaving')).toEqual(['rhoso3'])
  expect(await values('leaving', '-f', 'none.yaml')).toEqual([])
})

it('suggests nothing from a file that is missing or broken', async () => {
  expect(await values('cloud', '-f', 'none.yaml')).toEqual([])
  expect(await values('cloud', '-f', 'broken.yaml')).toEqual([])
})

it('lists the codes of the catalogue, and nothing for an unknown placeholder', async () => {
  expect(await values('code')).toContain('SL1000')
  expect(await values('seconds')).toBeUndefined()
})
