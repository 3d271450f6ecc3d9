/** Looks at a rendered tree on disk: its files, their modes, and what git tracks of it. */
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Exec } from '../exec/process.ts'
import type { RenderedTree } from './check/rendered-tree.ts'
import { STATE_FOLDER } from './tree.ts'
import { createTreeReader } from './tree-store.ts'

const SKIPPED = new Set([STATE_FOLDER, '.git', '.terraform', 'node_modules'])

export async function inspectTree(folder: string, exec: Exec): Promise<RenderedTree> {
  // git outside of a repository, or no git at all: then nothing is tracked.
  const { stdout } = await exec({ file: 'git', args: ['ls-files', '-z'], cwd: folder })
  return {
    files: [...listFiles(folder)],
    read: createTreeReader(folder),
    mode: (file) => statSync(path.join(folder, file), { throwIfNoEntry: false })?.mode,
    tracked: stdout.split(/[\0\n]/).filter((file) => file !== ''),
  }
}

function* listFiles(folder: string, prefix = ''): Generator<string> {
  for (const entry of readdirSync(path.join(folder, prefix), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) yield* listFiles(folder, name)
    else yield name
  }
}
