/**
 * Creates the namespaces of a rehearsal: processes, network, mounts, and a folder in memory for sockets and logs.
 *
 * The first process in them waits for the end of its input, which this process holds open: if this process ends in any
 * way, the first process ends, and the kernel ends all others and removes the interfaces, mounts and files. Only an
 * enclosure that is kept outlives this process.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { failure } from '../errors/failure.ts'
import {
  type Exec,
  type ProcessOptions,
  type Program,
  type RunningProcess,
  runProcess,
  startProcess,
} from '../exec/process.ts'
import { enclosureUnavailable } from './findings.ts'

export interface Enclosure {
  /** Runs a program inside. */
  readonly exec: Exec
  /** Starts a program inside that runs until it is stopped or the enclosure is closed. */
  readonly start: (program: Program, options?: ProcessOptions) => RunningProcess
  /** A file of the enclosure's folder, as programs inside know it. */
  readonly inside: (name: string) => string
  /** The same file for this process. */
  readonly outside: (name: string) => string
  /** The command line that runs a program inside. */
  readonly enter: (commandLine: readonly string[]) => readonly string[]
  /** The process outside whose end is the end of the enclosure. */
  readonly pid: number
  /** Ends all processes inside and waits for them. */
  readonly close: () => Promise<void>
  /** Leaves the enclosure with all programs in it when this process ends. */
  readonly keep: () => Promise<void>
}

const FOLDER = '/run/rehearsal'

/** Ends with its input, or stays after a line. */
const WAIT = 'echo ready && read -r line && echo kept && while :; do sleep 3600; done'
const scripts = {
  own: `mount -t tmpfs tmpfs /run && mkdir ${FOLDER} && ip link set lo up && ${WAIT}`,
  // /run stays as it is: the settings of the resolver may be there.
  host: WAIT,
}

export interface EnclosureOptions {
  /** Without a network of its own it has no folder either: for builds, which download. */
  readonly network?: 'own' | 'host'
}

export async function openEnclosure({ network = 'own' }: EnclosureOptions = {}): Promise<Enclosure> {
  const namespaces = ['--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--ipc']
  if (network === 'own') namespaces.push('--net')
  const child = spawn('unshare', [...namespaces, '/bin/sh', '-c', scripts[network]], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const started: RunningProcess[] = []
  child.stdin.on('error', () => undefined)
  const errors: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      errors.push(Buffer.from(error.message))
      resolve()
    })
    child.once('close', () => resolve())
  })
  await Promise.race([once(child.stdout, 'data').catch(() => undefined), exited])
  const { pid } = child
  if (pid === undefined || child.exitCode !== null || errors.length > 0) {
    child.stdin.end()
    await exited
    throw failure(enclosureUnavailable, { reason: Buffer.concat(errors).toString().trim() || 'unshare failed' })
  }
  const enter = (commandLine: readonly string[]): readonly string[] => [
    'nsenter',
    `--target=${pid}`,
    ...(network === 'own' ? ['--net'] : []),
    '--mount',
    '--ipc',
    // unshare itself stays outside of the process namespace that it created.
    `--pid=/proc/${pid}/ns/pid_for_children`,
    '--',
    ...commandLine,
  ]
  const wrap = (program: Program): Program => {
    const [file = '', ...args] = enter([program.file, ...(program.args ?? [])])
    return { ...program, file, args }
  }
  return {
    exec: (program, options) => runProcess(wrap(program), options),
    start: (program, options) => {
      const running = startProcess(wrap(program), options)
      started.push(running)
      return running
    },
    inside: (name) => path.join(FOLDER, name),
    outside: (name) => fileInEnclosure(pid, name),
    enter,
    pid,
    close: async () => {
      child.stdin.end()
      await exited
    },
    keep: async () => {
      const answer = once(child.stdout, 'data')
      child.stdin.write('keep\n')
      await answer
      child.unref()
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      for (const program of started) program.release()
    },
  }
}

/** A file in the folder of the enclosure that the process `pid` holds. */
export function fileInEnclosure(pid: number, name: string): string {
  return path.join(`/proc/${pid}/root${FOLDER}`, name)
}
