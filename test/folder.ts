/** A temporary folder for a test file, removed after its tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'

export function useFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
