import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { generateSmallKey, labWith, labWithFourthNode } from '../../test/lab.ts'
import type { Lab } from './lab.ts'
import { renderLab } from './render-lab.ts'
import { isSecretPath } from './secret-paths.ts'

// These tests generate keys and certificates, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'stackloom-lab-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const NOW = Date.parse('2026-11-15T12:00:00Z')
const render = (lab: Lab, overwrite = false) =>
  renderLab(lab, folder, { now: NOW, overwrite, makeSshKey: generateSmallKey })
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8')
const kinds = async (lab: Lab) => {
  const { changes } = await render(lab)
  return changes
    .filter((change) => change.kind !== 'unchanged')
    .map((change) => `${change.kind} ${change.kind === 'removed' ? change.path : change.file.path}`)
}

describe('renderLab', () => {
  it('changes nothing the second time', async () => {
    await render(labWith())
    expect(await kinds(labWith())).toEqual([])
  })

  it('keeps every secret when the lab changes', async () => {
    await render(labWith({}, { phase: 'both' }))
    const before = [
      'kolla/passwords.yml',
      'ssh/id_ed25519',
      'kolla/certificates/private/root/root.key',
      'ceph/ceph.conf',
    ].map(read)
    await render(labWith({ 'spec.dns.domain': 'openstack.internal' }, { phase: 'both', preset: 'four-node' }))
    const after = [
      'kolla/passwords.yml',
      'ssh/id_ed25519',
      'kolla/certificates/private/root/root.key',
      'ceph/ceph.conf',
    ].map(read)
    expect(after).toEqual(before)
  })

  it('writes every secret with the mode 0600, and git ignores all of them', async () => {
    await render(labWith({}, { phase: 'both' }))
    execFileSync('git', ['init', '-q'], { cwd: folder })
    const visible = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], {
      cwd: folder,
      encoding: 'utf8',
    }).split('\n')
    expect(visible).toContain('kolla/globals.yml')
    expect(visible.filter(isSecretPath)).toEqual([])
    const files = (readdirSync(folder, { recursive: true }) as string[]).filter(isSecretPath)
    expect(files.length).toBeGreaterThan(15)
    for (const file of files) expect([file, statSync(path.join(folder, file)).mode & 0o777]).toEqual([file, 0o600])
  })

  it('has no private key or password in a file that git sees', async () => {
    await render(labWith({}, { phase: 'both' }))
    execFileSync('git', ['init', '-q'], { cwd: folder })
    const visible = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const passwords = Object.values(parse(read('kolla/passwords.yml')) as object).filter(
      (password) => typeof password === 'string',
    )
    const files = visible.split('\n').filter(Boolean)
    expect(files.length).toBeGreaterThan(20)
    for (const file of files) {
      const text = read(file)
      expect(text).not.toContain('PRIVATE KEY')
      expect(passwords.filter((password) => text.includes(password))).toEqual([])
    }
  })

  it('reports manual edits and writes nothing, unless it may overwrite them', async () => {
    await render(labWith())
    const file = path.join(folder, 'kolla/globals.yml')
    writeFileSync(file, read('kolla/globals.yml').replace('enable_heat: "no"', 'enable_heat: "yes"'))
    const changed = labWith({ 'spec.logging': 'opensearch', 'spec.nodes.1.cpus': 3 })
    await expect(render(changed)).rejects.toThrow(/- enable_heat: "yes"/)
    expect(read('lima/node2-compute.yaml')).toContain('cpus: 4')
    await render(changed, true)
    expect(read('kolla/globals.yml')).toContain('enable_heat: "no"')
  })

  it('issues only the certificates whose names changed', async () => {
    await render(labWith())
    const external = read('kolla/certificates/haproxy.pem')
    const { made } = await render(labWithFourthNode())
    expect(made).toEqual(['certificates (libvirt)'])
    expect(read('kolla/certificates/haproxy.pem')).toBe(external)
  })

  it('renews certificates before they expire', async () => {
    await render(labWith())
    const later = NOW + 700 * 86_400_000
    const { made } = await renderLab(labWith(), folder, { now: later, makeSshKey: generateSmallKey })
    expect(made).toEqual(['certificates (external, internal, backend, libvirt)'])
  })

  it('refuses a broken passwords.yml and does not replace it', async () => {
    await render(labWith())
    writeFileSync(path.join(folder, 'kolla/passwords.yml'), 'just text')
    await expect(render(labWith())).rejects.toThrow('SL8207')
    expect(read('kolla/passwords.yml')).toBe('just text')
  })

  it('removes and writes nothing outside its folder, whatever the manifest and the links of the tree are', async () => {
    await render(labWith())
    const outside = mkdtempSync(path.join(tmpdir(), 'stackloom-outside-'))
    writeFileSync(path.join(outside, 'file'), 'x')
    const hash = createHash('sha256').update('x').digest('hex')
    const manifest = JSON.parse(read('.stackloom/manifest.json')) as Record<string, string>
    const names = [path.relative(folder, path.join(outside, 'file')), 'link/file']
    symlinkSync(outside, path.join(folder, 'link'))
    const hostile = { ...manifest, ...Object.fromEntries(names.map((name) => [name, hash])) }
    writeFileSync(path.join(folder, '.stackloom/manifest.json'), JSON.stringify(hostile))
    await render(labWith())
    rmSync(path.join(folder, 'terraform'), { recursive: true })
    symlinkSync(outside, path.join(folder, 'terraform'))
    await expect(render(labWith())).rejects.toThrow('SL1005')
    expect(readdirSync(outside)).toEqual(['file'])
    rmSync(outside, { recursive: true })
  })
})
