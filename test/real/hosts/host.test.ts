import { type ChildProcess, spawn } from 'node:child_process'
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

/** Starts a host with a program in another process. */
async function startElsewhere(seconds: string): Promise<ChildProcess> {
  const script = `
    import { startHost } from ${JSON.stringify(path.resolve('src/sandbox/hosts/host.ts'))}
    const files = { root: ${JSON.stringify(root())}, folder: ${JSON.stringify(path.join(folder, seconds))} }
    const host = await startHost({ name: 'other', ...files })
    host.start({ file: 'setsid', args: ['sleep', '${seconds}'] })
    console.log('started')`
  const child = spawn('node', ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await expect.poll(() => processesWith(`sleep ${seconds}`), { timeout: 60_000 }).not.toEqual([])
  return child
}

/** Stops a program on a host by a signal, and waits until what entered the host for it has stopped, too. */
async function stopProgram(seconds: string): Promise<void> {
  const states = async (): Promise<readonly string[]> =>
    (await processesWith(`sleep ${seconds}`)).map((line) => `${line[0]} ${line.includes('nsenter') ? 'nsenter' : ''}`)
  const find = async (): Promise<string | undefined> =>
    (await processesWith(`sleep ${seconds}`)).find(
      (line) => line.endsWith(` sleep ${seconds}`) && !line.includes('nsenter'),
    )
  await expect.poll(find, { timeout: 60_000 }).toBeDefined()
  process.kill(Number((await find())?.split(/ +/)[1]), 'SIGSTOP')
  await expect.poll(states, { timeout: 60_000 }).toContain('T nsenter')
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
    const child = await startElsewhere('876543')
    child.kill('SIGKILL')
    await expect.poll(() => processesWith('sleep 876543'), { timeout: 60_000 }).toEqual([])
  })

  it('ends with programs that are stopped by a signal, also those that enter it', async () => {
    const running = host.start({ file: 'sleep', args: ['765432'] })
    await expect.poll(() => processesWith('sleep 765432'), { timeout: 60_000 }).not.toEqual([])
    await stopProgram('765432')
    await host.stop()
    expect(await running.exit).toEqual({ kind: 'killed', signal: 'SIGKILL' })
    expect(await processesWith('sleep 765432')).toEqual([])
  })

  it('notices that a program ends which was stopped by a signal before', async () => {
    const running = host.start({ file: 'sleep', args: ['543210'] })
    await expect.poll(() => processesWith('sleep 543210'), { timeout: 60_000 }).not.toEqual([])
    await stopProgram('543210')
    await run(host, 'pkill -KILL -f "^sleep 543210"')
    expect(await running.exit).toEqual({ kind: 'killed', signal: 'SIGKILL' })
  })

  it('leaves no stopped program either when the process that started it is killed', async () => {
    const child = await startElsewhere('654321')
    await stopProgram('654321')
    child.kill('SIGKILL')
    await expect.poll(() => processesWith('sleep 654321'), { timeout: 60_000 }).toEqual([])
  })

  it('is refused with the message of the kernel where its layer cannot be mounted', async () => {
    const files = { root: path.join(folder, 'absent'), folder: path.join(folder, 'third') }
    await expect(startHost({ name: 'third', ...files })).rejects.toThrow(/host third cannot be started: .*overlay/)
  })
})
