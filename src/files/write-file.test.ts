import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/folder.ts'
import { writeFileAtomically, writeFileAtomicallySync } from './write-file.ts'

const folder = useFolder()

describe('writeFileAtomically', () => {
  it('replaces a file, sets its mode and leaves no temporary file', async () => {
    const file = path.join(folder, 'replaced')
    writeFileSync(file, 'old')
    await writeFileAtomically(file, 'new', { mode: 0o666 })
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(statSync(file).mode & 0o777).toBe(0o666)
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('keeps an existing file when it must not replace', async () => {
    const file = path.join(folder, 'kept')
    writeFileSync(file, 'old')
    await expect(writeFileAtomically(file, 'new', { replace: false })).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('writeFileAtomicallySync', () => {
  it('writes the file with exactly the given mode', () => {
    const file = path.join(folder, 'sync')
    writeFileAtomicallySync(file, 'text', 0o600)
    expect(readFileSync(file, 'utf8')).toBe('text')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('leaves no temporary file when the target is a folder', () => {
    expect(() => writeFileAtomicallySync(folder, 'text', 0o600)).toThrow()
    expect(readdirSync(path.dirname(folder)).filter((name) => name.endsWith(`${process.pid}.tmp`))).toEqual([])
  })
})
