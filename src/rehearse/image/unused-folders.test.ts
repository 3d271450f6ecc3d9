import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { markUsed, removeUnused } from './unused-folders.ts'

const HOUR_MS = 3600_000
const cache = mkdtempSync(path.join(tmpdir(), 'stackloom-unused-'))
afterEach(() => rmSync(cache, { recursive: true }))

describe('images and saved machines', () => {
  it('are removed after a day without use, when another one has been built', async () => {
    const folder = (name: string) => path.join(cache, name)
    const kept = ['open-vswitch-e4e53a8242f46568', 'image-0123456789abcdef.making-12', 'image-bbbbbbbbbbbbbbbb']
    const all = ['image-aaaaaaaaaaaaaaaa', 'machine-tcg-aaaaaaaaaaaaaaaa', 'image-cccccccccccccccc', ...kept]
    for (const name of all) mkdirSync(folder(name))
    const later = Date.now() + 25 * HOUR_MS
    await removeUnused(folder('image-bbbbbbbbbbbbbbbb'), Date.now() + 23 * HOUR_MS)
    expect(readdirSync(cache).toSorted()).toEqual(all.toSorted())
    await markUsed(folder('image-cccccccccccccccc'))
    await removeUnused(folder('image-bbbbbbbbbbbbbbbb'), later - 2 * HOUR_MS)
    expect(readdirSync(cache)).toHaveLength(all.length)
    await removeUnused(folder('image-bbbbbbbbbbbbbbbb'), later)
    expect(readdirSync(cache).toSorted()).toEqual(kept.toSorted())
  })
})
