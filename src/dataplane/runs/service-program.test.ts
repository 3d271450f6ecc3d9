/** Tests the program that starts services on a host, taken from its playbook, with real processes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

let folder = ''
let unrelated: ChildProcess
const playbook = path.join(import.meta.dirname, '..', '..', '..', 'playbooks', 'install-os.yaml')

interface Task {
  readonly 'ansible.builtin.copy'?: { readonly dest: string; readonly content: string }
}

function programText(): string {
  const [play] = parse(readFileSync(playbook, 'utf8')) as readonly [{ readonly tasks: readonly Task[] }]
  const copies = play.tasks.flatMap((task) => task['ansible.builtin.copy'] ?? [])
  const { content = '' } = copies.find(({ dest }) => dest.endsWith('/stackloom-service')) ?? {}
  return content.replaceAll('/var/lib/stackloom/services', folder).replaceAll('/var/log/containers', folder)
}

const run = (...args: readonly string[]): number | null =>
  spawnSync('sh', [path.join(folder, 'program'), ...args], { stdio: 'ignore' }).status
const pidFile = (): string => path.join(folder, 'nova.pid')
const isAlive = (pid: number): boolean => spawnSync('kill', ['-0', String(pid)]).status === 0

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-service-'))
  writeFileSync(path.join(folder, 'program'), programText())
  unrelated = spawn('sleep', ['600'])
})
afterEach(() => {
  run('stop', 'nova')
  unrelated.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

describe('stackloom-service', () => {
  it('starts a service, reports it, and stops it', () => {
    expect(run('start', 'nova', 'v1', 'sleep', '600')).toBe(0)
    const pid = Number(readFileSync(pidFile(), 'utf8').split(' ')[0])
    expect(run('status', 'nova', 'v1')).toBe(0)
    expect(run('status', 'nova', 'v2')).not.toBe(0)
    expect(run('stop', 'nova')).toBe(0)
    expect(isAlive(pid)).toBe(false)
    expect(run('status', 'nova', 'v1')).not.toBe(0)
  })

  it.each([
    ['a number alone', (pid: number, _recorded: string) => `${pid}\n`],
    ['another start time', (pid: number, recorded: string) => `${pid} 1 ${recorded.split(' ')[2]}`],
    ['another boot', (pid: number, recorded: string) => `${pid} ${recorded.split(' ')[1]} another-boot\n`],
  ])('neither counts nor kills an unrelated process that has the recorded number: %s', (_, forge) => {
    const { pid = 0 } = unrelated
    expect(run('start', 'nova', 'v1', 'sleep', '600')).toBe(0)
    const recorded = readFileSync(pidFile(), 'utf8')
    expect(run('stop', 'nova')).toBe(0)
    writeFileSync(pidFile(), forge(pid, recorded))
    writeFileSync(path.join(folder, 'nova.version'), 'v1\n')
    expect(run('status', 'nova', 'v1')).not.toBe(0)
    expect(run('stop', 'nova')).toBe(0)
    expect(isAlive(pid)).toBe(true)
  })
})
