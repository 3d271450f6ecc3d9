import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Disk, writeTree } from './write-tree.ts'

const disk: Disk = { mkdir, rename, writeFile }
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

  it('restores a rendered file that was changed', async () => {
    const tree = files({ 'a.yaml': 'a\n' })
    await writeTree(root, tree)
    await writeFile(path.join(root, 'a.yaml'), 'changed\n')
    expect((await writeTree(root, tree)).written).toEqual(['a.yaml'])
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
      const done = await writeTree(root, after, broken).catch((thrown: unknown) => thrown)
      steps = failing
      if (!(done instanceof Error)) break
      expect(done.message).toContain('no space left')
      expect(await contents()).toEqual(before)
      expect(existsSync(path.join(root, '.stackloom-drafts'))).toBe(false)
    }
    expect(steps).toBeGreaterThan(10)
    expect(await contents()).toEqual(Object.fromEntries(after))
    expect(await writeTree(root, after, disk)).toMatchObject({ written: [], removed: [] })
  })
})
