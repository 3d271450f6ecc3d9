/** Renders the three-node preset with LVM and Ceph to disk, for tests with real programs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lab } from '../../../src/lab/lab.ts'
import { renderLab } from '../../../src/lab/render-lab.ts'
import { generateSmallKey, labWith } from '../../lab.ts'

export interface RenderedLab {
  readonly lab: Lab
  readonly folder: string
  /** For other files of a test. */
  readonly scratch: string
  readonly remove: () => void
}

export async function renderLabToDisk(changes: Readonly<Record<string, unknown>> = {}): Promise<RenderedLab> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'stackloom-rendered-'))
  const lab = labWith(changes, { phase: 'both' })
  const folder = path.join(scratch, 'osl')
  await renderLab(lab, folder, { now: Date.now(), makeSshKey: generateSmallKey })
  return { lab, folder, scratch, remove: () => rmSync(scratch, { recursive: true }) }
}
