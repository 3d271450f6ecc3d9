import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Disk, readRemembered, writeTree } from './write-tree.ts'

const files = (texts: Record<string, string>): ReadonlyMap<string, string> => new Map(Object.entries(texts))

let root: string
beforeEach(async () => {
  root = path.join(await mkdtemp(path.join(tmpdir(), 'stackloom-tree-')), 'tree')
})
afterEach(() => rm(path.dirname(root), { recursive: true }))

async function contents(): Promise<Record<string, string>> {
  const names = await readdir(root, { recursive: true, withFileTypes: true })
  const found = names
    .filter((name) => name.isFile() && !name.name.startsWith('.stackloom'))
    .map((name) => path.relative(root, path.join(name.parentPath, name.name)))
  return Object.fromEntries(
    await Promise.all(found.sort().map(async (file) => [file, await readFile(path.join(root, file), 'utf8')])),
  )
}

describe('writeTree', () => {
  it('writes all files, and none when nothing changed', async () => {
    const tree = files({ 'a.yaml': 'a\n', 'clouds/one/b.yaml': 'b\n' })
    expect((await writeTree(root, tree)).written).toEqual(['a.yaml', 'clouds/one/b.yaml'])
    expect(await contents()).toEqual({ 'a.yaml': 'a\n', 'clouds/one/b.yaml': 'b\n' })
    expect(await writeTree(root, tree)).toEqual({ written: [], removed: [], findings: [] })
  })

  it('removes files that are no longer rendered, and empty folders', async () => {
    await writeTree(root, files({ 'a.yaml': 'a\n', 'clouds/one/b.yaml': 'b\n' }))
    expect((await writeTree(root, files({ 'a.yaml': 'a\n' }))).removed).toEqual(['clouds/one/b.yaml'])
    expect(existsSync(path.join(root, 'clouds'))).toBe(false)
  })

  it('keeps files that it did not write or that were changed', async () => {
    await writeTree(root, files({ 'a.yaml': 'a\n', 'b.yaml': 'b\n' }))
    await writeFile(path.join(root, 'README.md'), 'mine\n')
    await writeFile(path.join(root, 'b.yaml'), 'changed\n')
    const { findings } = await writeTree(root, files({ 'a.yaml': 'a\n' }))
    expect(findings.map((finding) => finding.code)).toEqual(['SL3206'])
    expect(await contents()).toEqual({ 'README.md': 'mine\n', 'a.yaml': 'a\n', 'b.yaml': 'changed\n' })
  })

  it('refuses to overwrite a rendered file that was edited, unless --overwrite is given', async () => {
    await writeTree(root, files({ 'a.yaml': 'a\n', 'b.yaml': 'b\n' }))
    await writeFile(path.join(root, 'a.yaml'), 'changed\n')
    const tree = files({ 'a.yaml': 'A\n', 'b.yaml': 'B\n' })
    await expect(writeTree(root, tree)).rejects.toThrow('SL3208')
    expect(await contents()).toEqual({ 'a.yaml': 'changed\n', 'b.yaml': 'b\n' })
    expect((await writeTree(root, tree, { overwrite: true })).written).toEqual(['a.yaml', 'b.yaml'])
  })

  it('takes an edited file that equals the new text as written', async () => {
    await writeTree(root, files({ 'a.yaml': 'a\n' }))
    await writeFile(path.join(root, 'a.yaml'), 'A\n')
    expect((await writeTree(root, files({ 'a.yaml': 'A\n' }))).written).toEqual([])
  })

  it('finds the options of a tree whose version recorded none', async () => {
    const argocd = new Map([
      ['argocd/health.yaml', 'kind: ConfigMap\n'],
      [
        'argocd/applications.yaml',
        'spec:\n  source:\n    repoURL: https://git.example.com/clouds.git\n    path: shared\n',
      ],
    ])
    await writeTree(root, argocd)
    expect(await readRemembered(root)).toEqual({ gitops: 'argocd', repository: 'https://git.example.com/clouds.git' })
    await writeTree(root, files({ 'flux/kustomizations.yaml': 'a: 1\n' }))
    expect(await readRemembered(root)).toEqual({ gitops: 'flux' })
    await writeTree(root, files({ 'kustomization.yaml': 'a: 1\n' }))
    expect(await readRemembered(root)).toEqual({})
  })

  it('remembers options for the next command, also where no file changes', async () => {
    const tree = files({ 'a.yaml': 'a\n' })
    expect(await readRemembered(root)).toEqual({})
    await writeTree(root, tree, { remembered: { gitops: 'argocd' } })
    expect(await readRemembered(root)).toEqual({ gitops: 'argocd' })
    await writeTree(root, tree, { remembered: { gitops: 'argocd', repository: 'https://x' } })
    expect(await readRemembered(root)).toEqual({ gitops: 'argocd', repository: 'https://x' })
    await writeTree(root, tree)
    expect(await readRemembered(root)).toEqual({})
  })

  it('removes nothing outside the tree, whatever its record lists', async () => {
    await writeTree(root, files({ 'a.yaml': 'a\n' }))
    const lock = path.join(path.dirname(root), 'site.lock.yaml')
    await writeFile(lock, 'lock\n')
    await mkdir(path.join(path.dirname(root), 'outside'))
    await writeFile(path.join(path.dirname(root), 'outside/file'), 'lock\n')
    await symlink('../outside', path.join(root, 'link'))
    const hash = createHash('sha256').update('lock\n').digest('hex')
    const record = { '../site.lock.yaml': hash, [lock]: hash, 'link/file': hash }
    await writeFile(path.join(root, '.stackloom-tree.json'), JSON.stringify(record))
    await writeTree(root, files({ 'b.yaml': 'b\n' }))
    expect(await readFile(lock, 'utf8')).toBe('lock\n')
    expect(await readFile(path.join(path.dirname(root), 'outside/file'), 'utf8')).toBe('lock\n')
  })

  it.each([
    ['folder', 'clouds', 'outside'],
    ['file', 'a.yaml', 'outside/file'],
    ['record', '.stackloom-tree.json', 'outside/file'],
  ])('does not write through a symbolic link instead of a %s', async (_, name, target) => {
    await mkdir(root)
    await mkdir(path.join(path.dirname(root), 'outside'))
    await writeFile(path.join(path.dirname(root), 'outside/file'), '{}')
    await symlink(path.join('..', target), path.join(root, name))
    const tree = files({ 'a.yaml': 'a\n', 'clouds/b.yaml': 'b\n' })
    await expect(writeTree(root, tree, { overwrite: true })).rejects.toThrow('SL1005')
    expect(await readdir(path.join(path.dirname(root), 'outside'))).toEqual(['file'])
  })

  it('does not overwrite a file that it did not write', async () => {
    await mkdir(root)
    await writeFile(path.join(root, 'a.yaml'), 'mine\n')
    await expect(writeTree(root, files({ 'a.yaml': 'a\n', 'b.yaml': 'b\n' }))).rejects.toThrow('SL3207')
    expect(await contents()).toEqual({ 'a.yaml': 'mine\n' })
  })

  it('leaves everything unchanged when any step fails', async () => {
    const before = { 'a.yaml': 'a\n', 'c/d.yaml': 'd\n', 'gone.yaml': 'x\n' }
    await writeTree(root, files(before))
    const after = files({ 'a.yaml': 'A\n', 'c/d.yaml': 'D\n', 'new/e.yaml': 'E\n' })
    let steps = 0
    for (let failing = 0; ; failing += 1) {
      let count = 0
      const step = <Args extends readonly unknown[], Result>(real: (...args: Args) => Result) =>
        ((...args: Args) => {
          if (count++ === failing) throw new Error('ENOSPC: no space left on device')
          return real(...args)
        }) as (...args: Args) => Result
      const broken = {
        mkdir: step(mkdir),
        rename: step(rename),
        writeFile: step(writeFile),
      } as unknown as Disk
      const done = await writeTree(root, after, { disk: broken }).catch((thrown: unknown) => thrown)
      steps = failing
      if (!(done instanceof Error)) break
      expect(done.message).toContain('no space left')
      expect(await contents()).toEqual(before)
      expect(existsSync(path.join(root, '.stackloom-drafts'))).toBe(false)
    }
    expect(steps).toBeGreaterThan(10)
    expect(await contents()).toEqual(Object.fromEntries(after))
    expect(await writeTree(root, after)).toMatchObject({ written: [], removed: [] })
  })
})
