import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestIo, testIo } from '../../../test/io.ts'
import type { KubeObject } from '../../api/object.ts'
import { main } from '../main.ts'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'stackloom-render-'))
  await cp('examples/two-clouds.yaml', path.join(cwd, 'site.yaml'))
})
afterEach(() => rm(cwd, { recursive: true }))

async function run(...argv: readonly string[]): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ cwd })
  const code = await main(['render', ...argv], io)
  return { ...io, code }
}

function objects(text: string): readonly KubeObject[] {
  return loadAll(text) as readonly KubeObject[]
}

describe('stackloom render', () => {
  it('prints the stream, and writes the lock', async () => {
    const { code, out } = await run()
    expect(code).toBe(0)
    expect(objects(out()).filter((object) => object.kind === 'OpenStackControlPlane')).toHaveLength(2)
    expect(existsSync(path.join(cwd, 'site.lock.yaml'))).toBe(true)
  })

  it('prints the same bytes again', async () => {
    expect((await run()).out()).toBe((await run()).out())
  })

  it('fails with --locked when the lock lacks a decision', async () => {
    const { code, out, err } = await run('--locked')
    expect([code, out()]).toEqual([1, ''])
    expect(err()).toContain('SL2')
    expect(existsSync(path.join(cwd, 'site.lock.yaml'))).toBe(false)
    await run()
    expect((await run('--locked')).code).toBe(0)
  })

  it('prints the documents of the given clouds, and rejects an unknown cloud', async () => {
    const { out } = await run('--cloud', 'rhoso2', '-o', 'name')
    const first = await run('--cloud', 'rhoso1', '-o', 'name')
    const both = await run('--cloud', 'rhoso1', '--cloud', 'rhoso2', '-o', 'name')
    const lines = (text: string) => text.split('\n').toSorted()
    expect(lines(both.out())).toEqual(lines(first.out() + out()))
    expect(out()).toContain('openstackcontrolplane.core.openstack.org/controlplane\n')
    expect(out()).toContain('namespace/openstack2\n')
    expect(out()).not.toContain('namespace/openstack\n')
    const { code, err } = await run('--cloud', 'rhoso9')
    expect(code).toBe(2)
    expect(err()).toContain('rhoso9')
  })

  it('prints a List as JSON', async () => {
    const { items } = JSON.parse((await run('-o', 'json')).out()) as { items: readonly unknown[] }
    expect(items).toEqual(objects((await run()).out()))
  })

  it('writes a tree, and nothing when nothing changed', async () => {
    expect((await run('--out', 'tree')).err()).toContain('written, 0 removed')
    expect((await run('--out', 'tree')).err()).toContain('nothing changed')
    const root = await readFile(path.join(cwd, 'tree/kustomization.yaml'), 'utf8')
    expect(root).toContain('- clouds/rhoso2\n')
  })

  it('renders a tree again for the tool and repository that it was written for, until another is given', async () => {
    const repository = 'https://git.example.com/clouds.git'
    const has = (file: string): boolean => existsSync(path.join(cwd, 'tree', file))
    await run('--out', 'tree', '--gitops', 'argocd', '--repository', repository)
    for (const again of [[], ['--locked'], ['--gitops', 'argocd']]) {
      expect((await run('--out', 'tree', ...again)).err()).toContain('nothing changed')
    }
    await run('--out', 'tree', '--gitops', 'flux')
    expect([has('flux/kustomizations.yaml'), has('argocd/applications.yaml')]).toEqual([true, false])
    expect((await run('--out', 'tree')).err()).toContain('nothing changed')
    await run('--out', 'tree', '--gitops', 'none')
    expect(has('flux')).toBe(false)
    expect((await run('--out', 'tree')).err()).toContain('nothing changed')
  })

  it('takes a tool that a foreign record names only if there is one', async () => {
    await run('--out', 'tree')
    await writeFile(path.join(cwd, 'tree/.stackloom-tree.json'), '{"--gitops": "x", "--repository": 5}')
    expect((await run('--out', 'tree')).code).toBe(0)
    expect(existsSync(path.join(cwd, 'tree/argocd'))).toBe(false)
  })

  it('writes nothing for a site with errors', async () => {
    const site = path.join(cwd, 'site.yaml')
    const text = await readFile(site, 'utf8')
    await writeFile(site, text.replace('    hosts:', '    services: {glence: true}\n    hosts:'))
    const { code, out, err } = await run('--out', 'tree')
    expect([code, out()]).toEqual([1, ''])
    expect(err()).toContain('did you mean glance?')
    expect(existsSync(path.join(cwd, 'tree'))).toBe(false)
    expect(existsSync(path.join(cwd, 'site.lock.yaml'))).toBe(false)
  })

  it('renders for the 2023 API on request', async () => {
    await cp('examples/networking-2023.yaml', path.join(cwd, 'site.yaml'))
    const { code, out } = await run('--crd', '2023')
    expect(code).toBe(0)
    expect(out()).toContain('externalEndpoints:')
    expect(out()).not.toContain('metallb.universe.tf/address-pool:')
  })
})
