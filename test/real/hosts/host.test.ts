import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Host, startHost } from '../../../src/sandbox/hosts/host.ts'
import { useFolder } from '../../folder.ts'
import { useRootFileSystem } from '../../hosts.ts'
import { processesWith } from '../../processes.ts'

const root = useRootFileSystem()
const folder = useFolder()
let host: Host

beforeEach(async () => {
  host = await startHost({ name: 'first', root: root(), folder: path.join(folder, 'first') })
})

afterEach(() => host.stop())

async function run(on: Host, script: string): Promise<string> {
  return (await on.exec({ file: 'sh', args: ['-c', script] })).stdout.trim()
}

describe('a host', () => {
  it('has its own name, processes, network and files, and nothing of the environment of this process', async () => {
    expect(await run(host, 'hostname; cat /etc/hostname; ip -br link; env')).toMatch(
      /^first\nfirst\nlo +UNKNOWN [^\n]*\n/,
    )
    expect(await run(host, 'ls /proc | grep -c "^[0-9]"')).toMatch(/^[1-9]$/)
    expect(await run(host, 'env | cut -d= -f1 | sort | tr "\\n" " "')).toBe('HOME LANG LC_ALL PATH PWD')
  })

  it('writes to its own layer only, which a second host does not see and a restart keeps', async () => {
    await run(host, 'echo mine >/etc/mine')
    expect(existsSync(path.join(root(), 'etc/mine'))).toBe(false)
    const second = await startHost({ name: 'second', root: root(), folder: path.join(folder, 'second') })
    try {
      expect(await run(second, 'cat /etc/mine || echo none')).toBe('none')
    } finally {
      await second.stop()
    }
    await host.stop()
    host = await startHost({ name: 'first', root: root(), folder: path.join(folder, 'first') })
    expect(await run(host, 'cat /etc/mine')).toBe('mine')
  })

  it('ends with all of its processes and mounts when it is stopped', async () => {
    host.start({ file: 'setsid', args: ['sleep', '987654'] })
    await expect.poll(() => processesWith('sleep 987654'), { timeout: 60_000 }).not.toEqual([])
    await host.stop()
    expect(await processesWith('sleep 987654')).toEqual([])
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(folder)
  })

  it('ends when the process that started it is killed', async () => {
    const script = `
      import { startHost } from ${JSON.stringify(path.resolve('src/sandbox/hosts/host.ts'))}
      const files = { root: ${JSON.stringify(root())}, folder: ${JSON.stringify(path.join(folder, 'other'))} }
      const host = await startHost({ name: 'other', ...files })
      host.start({ file: 'setsid', args: ['sleep', '876543'] })
      console.log('started')`
    const child = spawn('node', ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await expect.poll(() => processesWith('sleep 876543'), { timeout: 60_000 }).not.toEqual([])
    child.kill('SIGKILL')
    await expect.poll(() => processesWith('sleep 876543'), { timeout: 60_000 }).toEqual([])
  })

  it('is refused with the message of the kernel where its layer cannot be mounted', async () => {
    const files = { root: path.join(folder, 'absent'), folder: path.join(folder, 'third') }
    await expect(startHost({ name: 'third', ...files })).rejects.toThrow(/host third cannot be started: .*overlay/)
  })
})
