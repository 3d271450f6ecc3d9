/**
 * Runs a host: a machine of namespaces (network, mounts, processes, names) with its own layer over a shared root file system.
 *
 * The host ends with this process, however that ends: the kernel kills its first process, and with it all others, and
 * removes mounts, namespaces and interfaces. Only the folder with its files stays.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { failure } from '../../errors/failure.ts'
import {
  collectOutput,
  type Exec,
  type ProcessOptions,
  type Program,
  type RunningProcess,
  startProcess,
  toProgram,
} from '../../exec/process.ts'
import { hostNotStarted } from './findings.ts'
import { type HostFiles, hostScript, waitingInit } from './host-script.ts'

export interface HostRequest extends Pick<HostFiles, 'name' | 'root' | 'folder'> {
  readonly binds?: HostFiles['binds']
  readonly setup?: HostFiles['setup']
  readonly init?: HostFiles['init']
  /** The process whose network the host shares; without it the host has a network of its own. */
  readonly networkOf?: number
}

export interface Host {
  readonly name: string
  /** The process outside whose end is the end of the host; its network namespace is the host's. */
  readonly pid: number
  /** Runs a program on the host. */
  readonly exec: Exec
  /** Starts a program on the host that runs until it is stopped or the host ends. */
  readonly start: (program: Program, options?: ProcessOptions) => RunningProcess
  /** The command line that runs a program on the host, with the environment of the caller. */
  readonly enter: (commandLine: readonly string[]) => readonly string[]
  /** When the host has ended. */
  readonly ended: Promise<void>
  /** Ends all processes of the host and waits for them. */
  readonly stop: () => Promise<void>
}

const hostEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
}

/** Words before a command that is killed when its parent ends. */
export const endWithParent = ['setpriv', '--pdeathsig', 'KILL', '--']

export async function startHost(request: HostRequest): Promise<Host> {
  const { name, networkOf } = request
  const script = hostScript({ binds: [], setup: [], init: waitingInit, ...request })
  const network = networkOf === undefined ? ['--net'] : []
  const join = networkOf === undefined ? [] : ['nsenter', `--target=${networkOf}`, '--net', '--']
  const namespaces = ['--mount', '--pid', '--uts', '--ipc', ...network, '--fork', '--kill-child']
  const words = [...endWithParent, ...join, 'unshare', ...namespaces, '/bin/sh', '-c', script]
  const { file, args } = toProgram(words)
  const child = spawn(file, [...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: hostEnvironment })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      output.push(Buffer.from(error.message))
      resolve()
    })
    child.once('exit', () => resolve())
  })
  await Promise.race([once(child.stdout, 'data').catch(() => undefined), ended])
  const { pid } = child
  if (pid === undefined || !Buffer.concat(output).toString().includes('ready')) {
    child.kill('SIGKILL')
    await ended
    throw failure(hostNotStarted, { name, reason: Buffer.concat(output).toString().trim() || 'unshare failed' })
  }
  const init = Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''))
  const enter = enterHost(pid)
  const wrap = (program: Program): Program => ({
    ...program,
    // nsenter stays outside and stops with its program: stopped, it would outlive the host and this process.
    ...toProgram([...endWithParent, ...enter([program.file, ...(program.args ?? [])])]),
    env: { ...removedVariables(), ...hostEnvironment, ...program.env },
  })
  const entered = new Set<RunningProcess>()
  const start = (program: Program, options?: ProcessOptions): RunningProcess => {
    const running = startProcess(wrap(program), options)
    entered.add(running)
    void running.exit.then(() => entered.delete(running))
    return running
  }
  const resuming = setInterval(() => void resumeEntered([...entered].map((running) => running.pid)), RESUME_MS).unref()
  void ended.then(() => {
    clearInterval(resuming)
    for (const running of entered) running.kill('SIGKILL')
  })
  return {
    name,
    pid,
    exec: (program, options = {}) => collectOutput((collecting) => start(program, collecting), options),
    start,
    enter,
    ended,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await Promise.all([...entered].map(({ exit }) => exit))
      await waitForEnd(init)
    },
  }
}

const RESUME_MS = 2000

/**
 * nsenter stops with its program and does not notice when that is continued or killed: it is continued then, so that the end
 * of the program is seen.
 */
async function resumeEntered(pids: readonly (number | undefined)[]): Promise<void> {
  for (const pid of pids) {
    if (pid === undefined || (await processState(pid)) !== 'T') continue
    const programs = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    const states = await Promise.all(programs.split(' ').filter(Boolean).map(processState))
    if (states.includes('T')) continue
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** One letter; the name before it may have spaces and brackets. */
async function processState(pid: number | string): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2)[0]
}

/** Enters the host that the process `pid` holds. */
function enterHost(pid: number): (commandLine: readonly string[]) => readonly string[] {
  return (commandLine) => [
    'nsenter',
    `--target=${pid}`,
    '--mount',
    '--uts',
    '--ipc',
    '--net',
    // unshare itself stays outside of the process namespace that it created.
    `--pid=/proc/${pid}/ns/pid_for_children`,
    '--',
    ...commandLine,
  ]
}

/** The first process of a host ends last: the kernel waits for all others, and those for writes to a busy disk. */
async function waitForEnd(init: number): Promise<void> {
  for (const end = performance.now() + END_MS; performance.now() < end && existsSync(`/proc/${init}`); ) await sleep(20)
}

const END_MS = 60_000

/** A host does not see the environment of this process. */
function removedVariables(): Readonly<Record<string, undefined>> {
  return Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]))
}
