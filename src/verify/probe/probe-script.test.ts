/** The script of a probe, with an arping that prints given lines. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

function answer(task: string, arping: readonly string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-probe-'))
  try {
    for (const [name, lines] of Object.entries({ arping, ip: [] })) {
      writeFileSync(path.join(folder, name), `#!/bin/sh\ncat <<\\END\n${lines.join('\n')}\nEND\n`, { mode: 0o755 })
    }
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` }
    return spawnSync('sh', ['data/probe.sh', 'net1', task], { env, encoding: 'utf8' }).stdout.trim()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const TASK = 'dad,172.17.1.30'

describe('the script of a probe', () => {
  it('names every machine that answers once', () => {
    const lines = [
      'ARPING 172.17.1.30 from 0.0.0.0 net1',
      'Unicast reply from 172.17.1.30 [0A:00:00:00:00:01] 0.7ms',
      'Unicast reply from 172.17.1.30 [0a:00:00:00:00:02] 0.6ms',
      'Unicast reply from 172.17.1.30 [0A:00:00:00:00:01] 0.5ms',
      'Sent 2 probe(s) (2 broadcast(s))',
    ]
    expect(answer(TASK, lines)).toBe(`${TASK} 0a:00:00:00:00:01 0a:00:00:00:00:02`)
  })

  it('names the machine that asks for another address, and not the one that it asks', () => {
    const request =
      'Broadcast request from 172.17.1.30 [0a:00:00:00:00:01] for 172.17.1.31 for [ff:ff:ff:ff:ff:ff] 0.004ms'
    expect(answer(TASK, [request])).toBe(`${TASK} 0a:00:00:00:00:01`)
  })

  it('says so when no machine answers', () => {
    expect(answer(TASK, ['ARPING 172.17.1.30 from 0.0.0.0 net1', 'Received 0 response(s)'])).toBe(`${TASK} silent`)
  })
})
