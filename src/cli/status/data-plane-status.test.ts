import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dataPlaneNode } from '../../../test/data-plane.ts'
import { testIo } from '../../../test/io.ts'
import type { Condition } from '../../api/object.ts'
import { nodeServices } from '../../dataplane/service-definitions/all.ts'
import { writeYamlStream } from '../../yaml/write.ts'
import { main } from '../main.ts'
import { serviceColumn } from './data-plane-status.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-status-'))
})
afterEach(() => rm(folder, { recursive: true }))

const condition = (type: string, status: Condition['status'], message: string, severity = ''): Condition => ({
  type,
  status,
  message,
  severity,
})

async function status(severity: string, ...words: string[]): Promise<{ code: number; out: string }> {
  const fine = {
    ...dataPlaneNode('fine'),
    status: {
      conditions: [
        condition('Ready', 'True', ''),
        condition('ServicesReady', 'True', ''),
        condition('run-os service ready', 'True', ''),
      ],
    },
  }
  const open = {
    ...dataPlaneNode('open'),
    status: {
      conditions: [
        condition('Ready', 'False', 'the key is missing '.repeat(8), severity),
        condition('run-os service ready', 'False', ''),
      ],
    },
  }
  await writeFile(path.join(folder, 'nodes.yaml'), writeYamlStream([fine, open]))
  const io = testIo()
  const code = await main(['status', '--data-plane', '--from', folder, ...words], io)
  return { code, out: io.out() }
}

describe('status --data-plane', () => {
  it('counts nodes that are done, and shows the others with what they wait for, within the terminal width', async () => {
    const { code, out } = await status('Info')
    expect(code).toBe(0)
    expect(out).toContain('1 of 2 nodes are done')
    const columns = nodeServices.map(({ annotation }) => serviceColumn(annotation.kind.kind))
    expect(columns).toEqual(expect.arrayContaining(['NOVA', 'OVN METADATA']))
    expect(out).toMatch(new RegExp(`^NODE +PHASE -1 +PHASE 0 +${columns.join(' +')}$`, 'm'))
    expect(out).toMatch(new RegExp(`^open +- +0/1${' +-'.repeat(columns.length)}$`, 'm'))
    expect(out).toContain('    the key is missing')
    expect(out).not.toContain('\nfine')
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect((await status('Info', '--all')).out).toContain('\nfine')
  })

  it('exits with 1 on an error, and prints every node as JSON', async () => {
    const { code, out } = await status('Error', '-o', 'json')
    expect(code).toBe(1)
    expect(JSON.parse(out).nodes).toMatchObject([
      { node: 'fine' },
      { node: 'open', state: 'failed', done: 0, steps: 1 },
    ])
  })
})
